
use builtin;
use str;

set edit:completion:arg-completer[afteryou] = {|@words|
    fn spaces {|n|
        builtin:repeat $n ' ' | str:join ''
    }
    fn cand {|text desc|
        edit:complex-candidate $text &display=$text' '(spaces (- 14 (wcswidth $text)))$desc
    }
    var command = 'afteryou'
    for word $words[1..-1] {
        if (str:has-prefix $word '-') {
            break
        }
        set command = $command';'$word
    }
    var completions = [
        &'afteryou'= {
            cand -h 'Print help'
            cand --help 'Print help'
            cand -V 'Print version'
            cand --version 'Print version'
            cand send 'Send files and directories to where `afteryou receive` waits for them'
            cand receive 'Wait for files; prints the ticket for `afteryou send`'
            cand serve 'Let files be got; prints the ticket for `afteryou get`'
            cand get 'Get files and directories from where `afteryou serve` has them'
            cand ctl 'Look at running jobs, slow them down, pause and end them'
            cand demo 'Watch a background transfer step aside, with real packets on this machine'
            cand sim 'Run scenario files in the simulator: hours of network in seconds'
            cand fluid 'The same files as differential equations: what to expect, at once'
            cand bed 'The same files with real packets: real sockets on this machine through an emulated link'
            cand merge 'Join parts of a sweep that other processes or machines ran'
            cand plot 'Draw a figure of what runs saved: curves, bars, distributions, maps'
            cand report 'Draw the pages of a saved result or sweep again'
            cand compare 'Print two results side by side, with the differences'
            cand list 'What there is to choose from, with every parameter'
            cand doctor 'What this machine and the way to a far end can do, and what to do about the rest'
            cand completions 'What a shell has to know to complete words'
            cand man 'Manual pages'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'afteryou;send'= {
            cand --symlinks 'Choose how symbolic links are handled. `follow` may leave PATH: what a link leads to is sent wherever it lies'
            cand --via 'Start the far end over ssh, as scp does, instead of using a ticket'
            cand --ssh-command 'The ssh program of --via, with its arguments: "ssh -p 2222"'
            cand --far-command 'How --via finds afteryou on the other machine'
            cand --ticket 'The ticket, or @FILE, a file that holds it; neither AFTERYOU_TICKET nor a file shows in `ps`'
            cand --connections 'Connections of this job; together they take no more than one'
            cand --give-up-after 'Fail if there was no connection for so long; if not said, try for ever'
            cand --max-rate 'Go no faster than this, or than this at these times of day: 5Mbit/s, 512k, "08:00,512k 19:00,off"'
            cand --controller 'The congestion controller of what this side sends, with parameters if wanted: NAME[,parameter=value...]'
            cand --dscp 'The class that packets claim: le (lower effort), default, cs1, or a number from 0 to 63'
            cand --log 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info'
            cand --state 'Where this machine''s key is kept; usually ~/.local/state/afteryou'
            cand --control-dir 'Where `afteryou ctl` finds running jobs; usually afteryou in $XDG_RUNTIME_DIR'
            cand --json 'For programs: one JSON object in a line for each event, on stdout'
            cand --list 'Print the name of each file when it is done, and what became of it'
            cand -v 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand --verbose 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand -q 'Print nothing but errors'
            cand --quiet 'Print nothing but errors'
            cand --json-groups 'An event for each chunk group that comes off the wire'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'afteryou;receive'= {
            cand --listen 'The UDP address and port to wait at; port 0 is that of the last time, or any if somebody else has that'
            cand --address 'Put this into the ticket, instead of the addresses that this machine knows of itself; may be repeated'
            cand --ticket-file 'Write the ticket into this file, which only its owner may read, instead of printing it'
            cand --max-rate 'Go no faster than this, or than this at these times of day: 5Mbit/s, 512k, "08:00,512k 19:00,off"'
            cand --controller 'The congestion controller of what this side sends, with parameters if wanted: NAME[,parameter=value...]'
            cand --dscp 'The class that packets claim: le (lower effort), default, cs1, or a number from 0 to 63'
            cand --log 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info'
            cand --state 'Where this machine''s key is kept; usually ~/.local/state/afteryou'
            cand --control-dir 'Where `afteryou ctl` finds running jobs; usually afteryou in $XDG_RUNTIME_DIR'
            cand --once 'End after the first job that is complete'
            cand --ticket-only 'For scripts and ssh: print the ticket and nothing else, with a key that is kept nowhere, and end with standard input'
            cand --new-ticket 'Make a new secret: tickets printed so far are void'
            cand --json 'For programs: one JSON object in a line for each event, on stdout'
            cand --list 'Print the name of each file when it is done, and what became of it'
            cand -v 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand --verbose 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand -q 'Print nothing but errors'
            cand --quiet 'Print nothing but errors'
            cand --json-groups 'An event for each chunk group that comes off the wire'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'afteryou;serve'= {
            cand --symlinks 'Choose how symbolic links are handled. `follow` never leaves DIR'
            cand --listen 'The UDP address and port to wait at; port 0 is that of the last time, or any if somebody else has that'
            cand --address 'Put this into the ticket, instead of the addresses that this machine knows of itself; may be repeated'
            cand --ticket-file 'Write the ticket into this file, which only its owner may read, instead of printing it'
            cand --max-rate 'Go no faster than this, or than this at these times of day: 5Mbit/s, 512k, "08:00,512k 19:00,off"'
            cand --controller 'The congestion controller of what this side sends, with parameters if wanted: NAME[,parameter=value...]'
            cand --dscp 'The class that packets claim: le (lower effort), default, cs1, or a number from 0 to 63'
            cand --log 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info'
            cand --state 'Where this machine''s key is kept; usually ~/.local/state/afteryou'
            cand --control-dir 'Where `afteryou ctl` finds running jobs; usually afteryou in $XDG_RUNTIME_DIR'
            cand --once 'End after the first job that is complete'
            cand --ticket-only 'For scripts and ssh: print the ticket and nothing else, with a key that is kept nowhere, and end with standard input'
            cand --new-ticket 'Make a new secret: tickets printed so far are void'
            cand --json 'For programs: one JSON object in a line for each event, on stdout'
            cand --list 'Print the name of each file when it is done, and what became of it'
            cand -v 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand --verbose 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand -q 'Print nothing but errors'
            cand --quiet 'Print nothing but errors'
            cand --json-groups 'An event for each chunk group that comes off the wire'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'afteryou;get'= {
            cand --via 'Start the far end over ssh, as scp does, instead of using a ticket'
            cand --ssh-command 'The ssh program of --via, with its arguments: "ssh -p 2222"'
            cand --far-command 'How --via finds afteryou on the other machine'
            cand --ticket 'The ticket, or @FILE, a file that holds it; neither AFTERYOU_TICKET nor a file shows in `ps`'
            cand --connections 'Connections of this job; together they take no more than one'
            cand --give-up-after 'Fail if there was no connection for so long; if not said, try for ever'
            cand --max-rate 'Go no faster than this, or than this at these times of day: 5Mbit/s, 512k, "08:00,512k 19:00,off"'
            cand --controller 'The congestion controller of what this side sends, with parameters if wanted: NAME[,parameter=value...]'
            cand --dscp 'The class that packets claim: le (lower effort), default, cs1, or a number from 0 to 63'
            cand --log 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info'
            cand --state 'Where this machine''s key is kept; usually ~/.local/state/afteryou'
            cand --control-dir 'Where `afteryou ctl` finds running jobs; usually afteryou in $XDG_RUNTIME_DIR'
            cand --json 'For programs: one JSON object in a line for each event, on stdout'
            cand --list 'Print the name of each file when it is done, and what became of it'
            cand -v 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand --verbose 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand -q 'Print nothing but errors'
            cand --quiet 'Print nothing but errors'
            cand --json-groups 'An event for each chunk group that comes off the wire'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'afteryou;ctl'= {
            cand --job 'Which job, by its process; not needed if only one runs'
            cand --log 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info'
            cand --control-dir 'Where to look for running jobs; usually afteryou in $XDG_RUNTIME_DIR'
            cand --json 'For programs: one JSON object in a line for each job'
            cand -v 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand --verbose 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand status 'Say how it goes'
            cand pause 'Let it stand still; its connection stays'
            cand resume 'Let it go on'
            cand rate 'Let it go no faster than this, instead of what it was told before'
            cand off 'Lift all limits and pauses of this side; a timetable speaks again at its next change'
            cand stop 'End it; what arrived stays, and the same command goes on from there'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'afteryou;ctl;status'= {
            cand --job 'Which job, by its process; not needed if only one runs'
            cand --log 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info'
            cand --control-dir 'Where to look for running jobs; usually afteryou in $XDG_RUNTIME_DIR'
            cand --json 'For programs: one JSON object in a line for each job'
            cand -v 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand --verbose 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'afteryou;ctl;pause'= {
            cand --job 'Which job, by its process; not needed if only one runs'
            cand --log 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info'
            cand --control-dir 'Where to look for running jobs; usually afteryou in $XDG_RUNTIME_DIR'
            cand --json 'For programs: one JSON object in a line for each job'
            cand -v 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand --verbose 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'afteryou;ctl;resume'= {
            cand --job 'Which job, by its process; not needed if only one runs'
            cand --log 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info'
            cand --control-dir 'Where to look for running jobs; usually afteryou in $XDG_RUNTIME_DIR'
            cand --json 'For programs: one JSON object in a line for each job'
            cand -v 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand --verbose 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'afteryou;ctl;rate'= {
            cand --job 'Which job, by its process; not needed if only one runs'
            cand --log 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info'
            cand --control-dir 'Where to look for running jobs; usually afteryou in $XDG_RUNTIME_DIR'
            cand --json 'For programs: one JSON object in a line for each job'
            cand -v 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand --verbose 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'afteryou;ctl;off'= {
            cand --job 'Which job, by its process; not needed if only one runs'
            cand --log 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info'
            cand --control-dir 'Where to look for running jobs; usually afteryou in $XDG_RUNTIME_DIR'
            cand --json 'For programs: one JSON object in a line for each job'
            cand -v 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand --verbose 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'afteryou;ctl;stop'= {
            cand --job 'Which job, by its process; not needed if only one runs'
            cand --log 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info'
            cand --control-dir 'Where to look for running jobs; usually afteryou in $XDG_RUNTIME_DIR'
            cand --json 'For programs: one JSON object in a line for each job'
            cand -v 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand --verbose 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'afteryou;ctl;help'= {
            cand status 'Say how it goes'
            cand pause 'Let it stand still; its connection stays'
            cand resume 'Let it go on'
            cand rate 'Let it go no faster than this, instead of what it was told before'
            cand off 'Lift all limits and pauses of this side; a timetable speaks again at its next change'
            cand stop 'End it; what arrived stays, and the same command goes on from there'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'afteryou;ctl;help;status'= {
        }
        &'afteryou;ctl;help;pause'= {
        }
        &'afteryou;ctl;help;resume'= {
        }
        &'afteryou;ctl;help;rate'= {
        }
        &'afteryou;ctl;help;off'= {
        }
        &'afteryou;ctl;help;stop'= {
        }
        &'afteryou;ctl;help;help'= {
        }
        &'afteryou;demo'= {
            cand --controller 'The transfer''s congestion controller, with parameters if wanted: NAME[,parameter=value...]'
            cand --seconds 'How long to watch, in seconds; at least 24'
            cand --rate 'Rate of the bottleneck'
            cand --rtt 'Round-trip time of the empty path: 40ms, 0.25s'
            cand --buffer 'How much the bottleneck''s queue holds, in time, packets or bytes: 500ms, 100packets, 64KiB'
            cand --queue 'The bottleneck''s queue discipline, with parameters if wanted: NAME[,parameter=value...]'
            cand --loss 'Packets lost at random, in each direction: 0.1%'
            cand --file 'Send this file instead of generated data'
            cand --out 'Folder for the report'
            cand --seed 'Seed of every random choice'
            cand --json 'Write the result to stdout as JSON; progress goes to stderr either way'
            cand --check 'Exit with 1 if the verdict is bad'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'afteryou;sim'= {
            cand --trace 'Write every packet at every link into this file (pcapng, for Wireshark); the file must stand for one run'
            cand --out 'Write reports, results and curves into this folder'
            cand --seed 'Seed of every random choice, instead of the file''s'
            cand --repeat 'Run each combination so many times, with seeds N, N+1, …'
            cand --jobs 'Runs at the same time; as many as there are cores if not said'
            cand --shard 'Run part I of N of a sweep: every N-th run, from the I-th; join the folders with afteryou merge'
            cand --set 'Replace a setting of the file, such as link.rate="5 Mbit/s" or flow.backup.rtt="10 ms"'
            cand --json 'For programs: the result of each run as JSON, one in a line, on stdout'
            cand --no-series 'Write tables alone into --out, without curves and without a folder for each run of a sweep'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'afteryou;fluid'= {
            cand --out 'Write reports, results and curves into this folder'
            cand --seed 'Seed of every random choice, instead of the file''s'
            cand --repeat 'Run each combination so many times, with seeds N, N+1, …'
            cand --jobs 'Runs at the same time; as many as there are cores if not said'
            cand --shard 'Run part I of N of a sweep: every N-th run, from the I-th; join the folders with afteryou merge'
            cand --set 'Replace a setting of the file, such as link.rate="5 Mbit/s" or flow.backup.rtt="10 ms"'
            cand --explain 'Print what follows from the scenario without running it: equilibrium, time constants, stability, what to expect'
            cand --json 'For programs: the result of each run as JSON, one in a line, on stdout'
            cand --no-series 'Write tables alone into --out, without curves and without a folder for each run of a sweep'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'afteryou;bed'= {
            cand --out 'Write reports, results and curves into this folder'
            cand --seed 'Seed of every random choice, instead of the file''s'
            cand --repeat 'Run each combination so many times, with seeds N, N+1, …'
            cand --jobs 'Runs at the same time; as many as there are cores if not said'
            cand --shard 'Run part I of N of a sweep: every N-th run, from the I-th; join the folders with afteryou merge'
            cand --set 'Replace a setting of the file, such as link.rate="5 Mbit/s" or flow.backup.rtt="10 ms"'
            cand --json 'For programs: the result of each run as JSON, one in a line, on stdout'
            cand --no-series 'Write tables alone into --out, without curves and without a folder for each run of a sweep'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'afteryou;merge'= {
            cand --out 'Write the whole sweep into this folder'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'afteryou;plot'= {
            cand --x 'Column on the horizontal axis; the time if the rows are curves'
            cand --y 'Column that was measured, or a quantity of curves such as goodput or queuing_delay'
            cand --by 'A curve or a bar for each value of this column; in a map, the vertical axis. May be repeated'
            cand --kind 'line, bar, cdf or heat; by default what suits the columns'
            cand --only 'Only rows in which a column has a value, such as window=measured. May be repeated'
            cand --title 'Title, instead of the columns'' names'
            cand --out 'File to write; .png for a picture, .svg for a drawing'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'afteryou;report'= {
            cand --png 'Write each figure as figure.png, too'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'afteryou;compare'= {
            cand --out 'Write a page with the figures and the curves of both'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'afteryou;list'= {
            cand --json 'For programs: a JSON array, described below'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'afteryou;doctor'= {
            cand --ticket 'The same; neither AFTERYOU_TICKET nor a file shows in `ps`'
            cand --json 'For programs: a JSON array, described below'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'afteryou;completions'= {
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'afteryou;man'= {
            cand --out 'Write all pages into this directory instead'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'afteryou;help'= {
            cand send 'Send files and directories to where `afteryou receive` waits for them'
            cand receive 'Wait for files; prints the ticket for `afteryou send`'
            cand serve 'Let files be got; prints the ticket for `afteryou get`'
            cand get 'Get files and directories from where `afteryou serve` has them'
            cand ctl 'Look at running jobs, slow them down, pause and end them'
            cand demo 'Watch a background transfer step aside, with real packets on this machine'
            cand sim 'Run scenario files in the simulator: hours of network in seconds'
            cand fluid 'The same files as differential equations: what to expect, at once'
            cand bed 'The same files with real packets: real sockets on this machine through an emulated link'
            cand merge 'Join parts of a sweep that other processes or machines ran'
            cand plot 'Draw a figure of what runs saved: curves, bars, distributions, maps'
            cand report 'Draw the pages of a saved result or sweep again'
            cand compare 'Print two results side by side, with the differences'
            cand list 'What there is to choose from, with every parameter'
            cand doctor 'What this machine and the way to a far end can do, and what to do about the rest'
            cand completions 'What a shell has to know to complete words'
            cand man 'Manual pages'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'afteryou;help;send'= {
        }
        &'afteryou;help;receive'= {
        }
        &'afteryou;help;serve'= {
        }
        &'afteryou;help;get'= {
        }
        &'afteryou;help;ctl'= {
            cand status 'Say how it goes'
            cand pause 'Let it stand still; its connection stays'
            cand resume 'Let it go on'
            cand rate 'Let it go no faster than this, instead of what it was told before'
            cand off 'Lift all limits and pauses of this side; a timetable speaks again at its next change'
            cand stop 'End it; what arrived stays, and the same command goes on from there'
        }
        &'afteryou;help;ctl;status'= {
        }
        &'afteryou;help;ctl;pause'= {
        }
        &'afteryou;help;ctl;resume'= {
        }
        &'afteryou;help;ctl;rate'= {
        }
        &'afteryou;help;ctl;off'= {
        }
        &'afteryou;help;ctl;stop'= {
        }
        &'afteryou;help;demo'= {
        }
        &'afteryou;help;sim'= {
        }
        &'afteryou;help;fluid'= {
        }
        &'afteryou;help;bed'= {
        }
        &'afteryou;help;merge'= {
        }
        &'afteryou;help;plot'= {
        }
        &'afteryou;help;report'= {
        }
        &'afteryou;help;compare'= {
        }
        &'afteryou;help;list'= {
        }
        &'afteryou;help;doctor'= {
        }
        &'afteryou;help;completions'= {
        }
        &'afteryou;help;man'= {
        }
        &'afteryou;help;help'= {
        }
    ]
    $completions[$command]
}
