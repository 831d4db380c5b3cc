
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
            cand send 'Send files and directories to a waiting `afteryou receive`'
            cand receive 'Wait for files; prints the ticket for `afteryou send`'
            cand serve 'Serve files; prints the ticket for `afteryou get`'
            cand get 'Get files and directories from a running `afteryou serve`'
            cand ctl 'Show running jobs, limit their rate, pause and end them'
            cand demo 'Watch a background transfer yield to an upload, with real packets on this machine'
            cand sim 'Run scenario files in the simulator: hours of network in seconds'
            cand fluid 'Solve scenario files as differential equations, in milliseconds'
            cand bed 'Run scenario files with real packets, over sockets of this machine and an emulated link'
            cand merge 'Join parts of a sweep that other processes or machines ran'
            cand sweep 'Run a sweep on a Dask cluster, with the Python package'
            cand plot 'Draw a figure from saved results: curves, bars, distributions, maps'
            cand report 'Draw the pages of a saved result or sweep again'
            cand compare 'Print results side by side, with the differences'
            cand study 'Repeat the experiments of five papers and compare them with the published numbers'
            cand lab 'Open the lab page: the simulator in a browser, with sliders'
            cand list 'List controllers, queues or transports with every parameter'
            cand doctor 'Check this machine and the path to a peer, and suggest remedies'
            cand completions 'Print or install completions for a shell'
            cand man 'Write the manual pages'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'afteryou;send'= {
            cand --symlinks 'Choose how symbolic links are handled. `follow` may leave PATH: the target of a link is sent wherever it is'
            cand --name 'Name of the file that standard input becomes, with - as the PATH'
            cand --exclude 'Leave out files and directories that match, in the syntax of .gitignore; may be repeated'
            cand --include 'Include files again that --exclude leaves out; may be repeated. A file below an excluded directory stays excluded'
            cand --exclude-from 'Read patterns of --exclude from this file, one per line, before the others; !PATTERN includes again, # is a comment'
            cand --max-delete 'Delete nothing if --delete would delete more entries than this: a number, or a percentage of the copy (10%)'
            cand --backup-dir 'Keep replaced and deleted files in this directory below the receiving one'
            cand --owner 'Keep owners and groups, by name or by number; the receiver must run as root'
            cand --via 'Start afteryou on HOST over ssh, as scp does, instead of using a ticket; HOST:DIR in the ticket''s place does the same'
            cand --ssh-command 'The ssh program of --via, with its arguments: "ssh -p 2222"'
            cand --far-command 'Command that --via runs as afteryou on the other machine'
            cand --ticket 'The ticket, or @FILE, a file that holds it; neither AFTERYOU_TICKET nor a file shows in `ps`'
            cand --connections 'Number of connections of this job; together they use no more than one would'
            cand --give-up-after 'Fail after this time without a connection; by default try indefinitely'
            cand --max-rate 'Limit the rate, always or by time of day: 5Mbit/s, 512k, "08:00,512k 19:00,off"'
            cand --controller 'Congestion controller for sent data, with optional parameters: NAME[,parameter=value...]'
            cand --dscp 'DSCP of the packets: le (lower effort), default, cs1, or a number from 0 to 63'
            cand --on-success 'Run this command in a shell when the job has ended with exit code 0'
            cand --on-failure 'Run this command in a shell when the job has ended with another exit code, which AFTERYOU_EXIT_CODE holds'
            cand --qlog 'Log each connection into a file in this directory (qlog, for qvis), as its sender sees it'
            cand --log 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info'
            cand --state 'Directory of this machine''s key; usually ~/.local/state/afteryou'
            cand --control-dir 'Directory in which `afteryou ctl` finds running jobs; usually afteryou in $XDG_RUNTIME_DIR'
            cand --route-mtu 'Longest IP packet of the route, bytes, instead of what the system knows: an emulated path is no loopback'
            cand -n 'Change nothing; print the files that would be stored, replaced and deleted'
            cand --dry-run 'Change nothing; print the files that would be stored, replaced and deleted'
            cand -u 'Skip files that are newer at the receiver'
            cand --update 'Skip files that are newer at the receiver'
            cand --quick 'Treat files with the same size and modification time as unchanged, without reading them'
            cand --verify 'Read every file at the source, instead of using hashes cached by earlier runs'
            cand --delete 'Afterwards delete files on the receiver that the source no longer has, in the sent directories'
            cand --delete-all 'Like --delete, even if a directory of the source is empty'
            cand --xattrs 'Keep extended attributes whose names begin with `user.`'
            cand --acls 'Keep POSIX access lists; users and groups in them are numbers'
            cand --json 'Print one JSON object per line for each event, on stdout'
            cand --list 'Print the name of each file when it is done, and its result'
            cand --strict 'Fail (exit code 1 instead of 3) if anything was left out or differs from the source'
            cand --stats 'Print at the end the number of entries and bytes by result'
            cand --notify 'Show a desktop notification when the job has ended, with `notify-send` or macOS'' `osascript`'
            cand -v 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand --verbose 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand -q 'Print nothing but errors'
            cand --quiet 'Print nothing but errors'
            cand --json-groups 'An event for each chunk group that comes off the wire'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'afteryou;receive'= {
            cand --listen 'UDP address and port to listen on; port 0 reuses the previous port if it is free'
            cand --address 'Put this into the ticket, instead of this machine''s own addresses; may be repeated'
            cand --ticket-file 'Write the ticket into this file, which only its owner may read, instead of printing it'
            cand --max-rate 'Limit the rate, always or by time of day: 5Mbit/s, 512k, "08:00,512k 19:00,off"'
            cand --controller 'Congestion controller for sent data, with optional parameters: NAME[,parameter=value...]'
            cand --dscp 'DSCP of the packets: le (lower effort), default, cs1, or a number from 0 to 63'
            cand --on-success 'Run this command in a shell when the job has ended with exit code 0'
            cand --on-failure 'Run this command in a shell when the job has ended with another exit code, which AFTERYOU_EXIT_CODE holds'
            cand --qlog 'Log each connection into a file in this directory (qlog, for qvis), as its sender sees it'
            cand --log 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info'
            cand --state 'Directory of this machine''s key; usually ~/.local/state/afteryou'
            cand --control-dir 'Directory in which `afteryou ctl` finds running jobs; usually afteryou in $XDG_RUNTIME_DIR'
            cand --route-mtu 'Longest IP packet of the route, bytes, instead of what the system knows: an emulated path is no loopback'
            cand --allow-delete 'Let senders delete files below DIR that they do not have (`send --delete`), and learn their names'
            cand --allow-links 'Let senders make links that point out of DIR (`send --symlinks copy-as-is`). Nothing is ever stored through a link'
            cand --allow-backup 'Let senders keep replaced files in a directory below DIR (`send --backup-dir`)'
            cand --allow-owner 'Let senders choose users and groups as owners (`send --owner`); it takes effect as root'
            cand --allow-xattrs 'Let senders set extended attributes whose names begin with `user.` (`send --xattrs`)'
            cand --allow-acls 'Let senders set access lists, which give rights to other users (`send --acls`)'
            cand --once 'End after the first job that is complete'
            cand --ticket-only 'For scripts and ssh: print only the ticket, use a temporary key, and end with standard input'
            cand --qr 'Show the ticket as a QR code on stderr, too'
            cand --new-ticket 'Make a new secret: tickets printed so far are void'
            cand --json 'Print one JSON object per line for each event, on stdout'
            cand --list 'Print the name of each file when it is done, and its result'
            cand --strict 'Fail (exit code 1 instead of 3) if anything was left out or differs from the source'
            cand --stats 'Print at the end the number of entries and bytes by result'
            cand --notify 'Show a desktop notification when the job has ended, with `notify-send` or macOS'' `osascript`'
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
            cand --exclude 'Leave out files and directories that match, in the syntax of .gitignore; may be repeated'
            cand --include 'Include files again that --exclude leaves out; may be repeated. A file below an excluded directory stays excluded'
            cand --exclude-from 'Read patterns of --exclude from this file, one per line, before the others; !PATTERN includes again, # is a comment'
            cand --listen 'UDP address and port to listen on; port 0 reuses the previous port if it is free'
            cand --address 'Put this into the ticket, instead of this machine''s own addresses; may be repeated'
            cand --ticket-file 'Write the ticket into this file, which only its owner may read, instead of printing it'
            cand --max-rate 'Limit the rate, always or by time of day: 5Mbit/s, 512k, "08:00,512k 19:00,off"'
            cand --controller 'Congestion controller for sent data, with optional parameters: NAME[,parameter=value...]'
            cand --dscp 'DSCP of the packets: le (lower effort), default, cs1, or a number from 0 to 63'
            cand --on-success 'Run this command in a shell when the job has ended with exit code 0'
            cand --on-failure 'Run this command in a shell when the job has ended with another exit code, which AFTERYOU_EXIT_CODE holds'
            cand --qlog 'Log each connection into a file in this directory (qlog, for qvis), as its sender sees it'
            cand --log 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info'
            cand --state 'Directory of this machine''s key; usually ~/.local/state/afteryou'
            cand --control-dir 'Directory in which `afteryou ctl` finds running jobs; usually afteryou in $XDG_RUNTIME_DIR'
            cand --route-mtu 'Longest IP packet of the route, bytes, instead of what the system knows: an emulated path is no loopback'
            cand --once 'End after the first job that is complete'
            cand --ticket-only 'For scripts and ssh: print only the ticket, use a temporary key, and end with standard input'
            cand --qr 'Show the ticket as a QR code on stderr, too'
            cand --new-ticket 'Make a new secret: tickets printed so far are void'
            cand --json 'Print one JSON object per line for each event, on stdout'
            cand --list 'Print the name of each file when it is done, and its result'
            cand --strict 'Fail (exit code 1 instead of 3) if anything was left out or differs from the source'
            cand --stats 'Print at the end the number of entries and bytes by result'
            cand --notify 'Show a desktop notification when the job has ended, with `notify-send` or macOS'' `osascript`'
            cand -v 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand --verbose 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand -q 'Print nothing but errors'
            cand --quiet 'Print nothing but errors'
            cand --json-groups 'An event for each chunk group that comes off the wire'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'afteryou;get'= {
            cand --exclude 'Leave out files and directories that match, in the syntax of .gitignore; may be repeated'
            cand --include 'Include files again that --exclude leaves out; may be repeated. A file below an excluded directory stays excluded'
            cand --exclude-from 'Read patterns of --exclude from this file, one per line, before the others; !PATTERN includes again, # is a comment'
            cand --max-delete 'Delete nothing if --delete would delete more entries than this: a number, or a percentage of the copy (10%)'
            cand --backup-dir 'Keep replaced and deleted files in this directory below the receiving one'
            cand --owner 'Keep owners and groups, by name or by number; the receiver must run as root'
            cand --via 'Start afteryou on HOST over ssh, as scp does, instead of using a ticket; HOST:DIR in the ticket''s place does the same'
            cand --ssh-command 'The ssh program of --via, with its arguments: "ssh -p 2222"'
            cand --far-command 'Command that --via runs as afteryou on the other machine'
            cand --ticket 'The ticket, or @FILE, a file that holds it; neither AFTERYOU_TICKET nor a file shows in `ps`'
            cand --connections 'Number of connections of this job; together they use no more than one would'
            cand --give-up-after 'Fail after this time without a connection; by default try indefinitely'
            cand --max-rate 'Limit the rate, always or by time of day: 5Mbit/s, 512k, "08:00,512k 19:00,off"'
            cand --controller 'Congestion controller for sent data, with optional parameters: NAME[,parameter=value...]'
            cand --dscp 'DSCP of the packets: le (lower effort), default, cs1, or a number from 0 to 63'
            cand --on-success 'Run this command in a shell when the job has ended with exit code 0'
            cand --on-failure 'Run this command in a shell when the job has ended with another exit code, which AFTERYOU_EXIT_CODE holds'
            cand --qlog 'Log each connection into a file in this directory (qlog, for qvis), as its sender sees it'
            cand --log 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info'
            cand --state 'Directory of this machine''s key; usually ~/.local/state/afteryou'
            cand --control-dir 'Directory in which `afteryou ctl` finds running jobs; usually afteryou in $XDG_RUNTIME_DIR'
            cand --route-mtu 'Longest IP packet of the route, bytes, instead of what the system knows: an emulated path is no loopback'
            cand -n 'Change nothing; print the files that would be stored, replaced and deleted'
            cand --dry-run 'Change nothing; print the files that would be stored, replaced and deleted'
            cand -u 'Skip files that are newer at the receiver'
            cand --update 'Skip files that are newer at the receiver'
            cand --quick 'Treat files with the same size and modification time as unchanged, without reading them'
            cand --verify 'Read every file at the source, instead of using hashes cached by earlier runs'
            cand --delete 'Afterwards delete files on the receiver that the source no longer has, in the sent directories'
            cand --delete-all 'Like --delete, even if a directory of the source is empty'
            cand --xattrs 'Keep extended attributes whose names begin with `user.`'
            cand --acls 'Keep POSIX access lists; users and groups in them are numbers'
            cand --json 'Print one JSON object per line for each event, on stdout'
            cand --list 'Print the name of each file when it is done, and its result'
            cand --strict 'Fail (exit code 1 instead of 3) if anything was left out or differs from the source'
            cand --stats 'Print at the end the number of entries and bytes by result'
            cand --notify 'Show a desktop notification when the job has ended, with `notify-send` or macOS'' `osascript`'
            cand -v 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand --verbose 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand -q 'Print nothing but errors'
            cand --quiet 'Print nothing but errors'
            cand --json-groups 'An event for each chunk group that comes off the wire'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'afteryou;ctl'= {
            cand --job 'Process ID of the job; not needed if only one runs'
            cand --log 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info'
            cand --control-dir 'Directory of running jobs; usually afteryou in $XDG_RUNTIME_DIR'
            cand --json 'Print one JSON object per line for each job'
            cand -v 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand --verbose 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand status 'Show the status of running jobs'
            cand pause 'Pause the transfer; the connection stays open'
            cand resume 'Continue after a pause'
            cand rate 'Limit the rate, in place of earlier limits'
            cand off 'Lift all limits and pauses set here; a timetable takes effect again at its next change'
            cand stop 'End the job; stored data stay, and the same command continues from there'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'afteryou;ctl;status'= {
            cand --job 'Process ID of the job; not needed if only one runs'
            cand --log 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info'
            cand --control-dir 'Directory of running jobs; usually afteryou in $XDG_RUNTIME_DIR'
            cand --json 'Print one JSON object per line for each job'
            cand -v 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand --verbose 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'afteryou;ctl;pause'= {
            cand --job 'Process ID of the job; not needed if only one runs'
            cand --log 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info'
            cand --control-dir 'Directory of running jobs; usually afteryou in $XDG_RUNTIME_DIR'
            cand --json 'Print one JSON object per line for each job'
            cand -v 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand --verbose 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'afteryou;ctl;resume'= {
            cand --job 'Process ID of the job; not needed if only one runs'
            cand --log 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info'
            cand --control-dir 'Directory of running jobs; usually afteryou in $XDG_RUNTIME_DIR'
            cand --json 'Print one JSON object per line for each job'
            cand -v 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand --verbose 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'afteryou;ctl;rate'= {
            cand --job 'Process ID of the job; not needed if only one runs'
            cand --log 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info'
            cand --control-dir 'Directory of running jobs; usually afteryou in $XDG_RUNTIME_DIR'
            cand --json 'Print one JSON object per line for each job'
            cand -v 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand --verbose 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'afteryou;ctl;off'= {
            cand --job 'Process ID of the job; not needed if only one runs'
            cand --log 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info'
            cand --control-dir 'Directory of running jobs; usually afteryou in $XDG_RUNTIME_DIR'
            cand --json 'Print one JSON object per line for each job'
            cand -v 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand --verbose 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'afteryou;ctl;stop'= {
            cand --job 'Process ID of the job; not needed if only one runs'
            cand --log 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info'
            cand --control-dir 'Directory of running jobs; usually afteryou in $XDG_RUNTIME_DIR'
            cand --json 'Print one JSON object per line for each job'
            cand -v 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand --verbose 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'afteryou;ctl;help'= {
            cand status 'Show the status of running jobs'
            cand pause 'Pause the transfer; the connection stays open'
            cand resume 'Continue after a pause'
            cand rate 'Limit the rate, in place of earlier limits'
            cand off 'Lift all limits and pauses set here; a timetable takes effect again at its next change'
            cand stop 'End the job; stored data stay, and the same command continues from there'
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
            cand --controller 'The transfer''s congestion controller, with optional parameters: NAME[,parameter=value...]'
            cand --seconds 'Duration in seconds; at least 24'
            cand --rate 'Rate of the bottleneck'
            cand --rtt 'Base round-trip time: 40ms, 0.25s'
            cand --buffer 'Size of the bottleneck''s queue, in time, packets or bytes: 500ms, 100packets, 64KiB'
            cand --queue 'The bottleneck''s queue discipline, with optional parameters: NAME[,parameter=value...]'
            cand --loss 'Packets lost at random, in each direction: 0.1%'
            cand --file 'Send this file instead of generated data'
            cand --out 'Folder for the report'
            cand --seed 'Seed of every random choice'
            cand --real 'Let the upload be the kernel''s own TCP, in network namespaces; on Linux, as root'
            cand --json 'Write the result to stdout as JSON; progress goes to stderr either way'
            cand -v 'Print every table, not only the verdict'
            cand --verbose 'Print every table, not only the verdict'
            cand --check 'Exit with 1 if the verdict is bad'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'afteryou;sim'= {
            cand --trace 'Write every packet at every link into this file (pcapng, for Wireshark); the file must describe one run'
            cand --qlog 'Write every sender into a file in this folder (qlog, for qvis); the file must describe one run'
            cand --out 'Write reports, results and curves into this folder'
            cand --seed 'Seed of every random choice, instead of the file''s'
            cand --repeat 'Run each combination this many times, with seeds N, N+1, …'
            cand --jobs 'Runs at the same time; the number of cores by default'
            cand --shard 'Run part I of N of a sweep: every N-th run, from the I-th; join the folders with afteryou merge'
            cand --set 'Replace a setting of the file, such as link.rate="5 Mbit/s" or flow.backup.rtt="10 ms"'
            cand --json 'Print the result of each run as JSON, one per line, on stdout'
            cand -v 'Print every table, not only the headline'
            cand --verbose 'Print every table, not only the headline'
            cand --no-series 'Write only tables into --out, without curves and without a folder for each run of a sweep'
            cand --parquet 'Write tables and curves as Parquet, too'
            cand --untrusted 'For scenarios that others wrote: open files only below the scenario''s folder, links resolved, and start no program'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'afteryou;fluid'= {
            cand --trace 'Write every packet at every link into this file (pcapng, for Wireshark); the file must describe one run'
            cand --qlog 'Write every sender into a file in this folder (qlog, for qvis); the file must describe one run'
            cand --out 'Write reports, results and curves into this folder'
            cand --seed 'Seed of every random choice, instead of the file''s'
            cand --repeat 'Run each combination this many times, with seeds N, N+1, …'
            cand --jobs 'Runs at the same time; the number of cores by default'
            cand --shard 'Run part I of N of a sweep: every N-th run, from the I-th; join the folders with afteryou merge'
            cand --set 'Replace a setting of the file, such as link.rate="5 Mbit/s" or flow.backup.rtt="10 ms"'
            cand --explain 'Print the equilibrium, time constants and stability of the scenario, and the expected shares, without running it'
            cand --json 'Print the result of each run as JSON, one per line, on stdout'
            cand -v 'Print every table, not only the headline'
            cand --verbose 'Print every table, not only the headline'
            cand --no-series 'Write only tables into --out, without curves and without a folder for each run of a sweep'
            cand --parquet 'Write tables and curves as Parquet, too'
            cand --untrusted 'For scenarios that others wrote: open files only below the scenario''s folder, links resolved, and start no program'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'afteryou;bed'= {
            cand --trace 'Write every packet at every link into this file (pcapng, for Wireshark); the file must describe one run'
            cand --qlog 'Write every sender into a file in this folder (qlog, for qvis); the file must describe one run'
            cand --out 'Write reports, results and curves into this folder'
            cand --seed 'Seed of every random choice, instead of the file''s'
            cand --repeat 'Run each combination this many times, with seeds N, N+1, …'
            cand --jobs 'Runs at the same time; the number of cores by default'
            cand --shard 'Run part I of N of a sweep: every N-th run, from the I-th; join the folders with afteryou merge'
            cand --set 'Replace a setting of the file, such as link.rate="5 Mbit/s" or flow.backup.rtt="10 ms"'
            cand --queue-by 'Choose the queues at links that data cross: those of afteryou, as in the simulator, or the kernel''s own queue disciplines below htb'
            cand --json 'Print the result of each run as JSON, one per line, on stdout'
            cand -v 'Print every table, not only the headline'
            cand --verbose 'Print every table, not only the headline'
            cand --no-series 'Write only tables into --out, without curves and without a folder for each run of a sweep'
            cand --parquet 'Write tables and curves as Parquet, too'
            cand --untrusted 'For scenarios that others wrote: open files only below the scenario''s folder, links resolved, and start no program'
            cand --clean 'End the programs that killed runs have left behind, as every run does before it begins; takes no file'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'afteryou;merge'= {
            cand --out 'Write the whole sweep into this folder'
            cand --parquet 'Write tables as Parquet, too'
            cand -v 'Print every table, not the first rows alone'
            cand --verbose 'Print every table, not the first rows alone'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'afteryou;sweep'= {
            cand --dask 'Address of the cluster''s Dask scheduler'
            cand --out 'Keep results in this folder, where an interrupted sweep resumes'
            cand --engine 'The engine: sim or fluid'
            cand --seed 'Seed of the first repetition, instead of the file''s'
            cand --repeat 'Repetitions of each combination, instead of the file''s'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'afteryou;plot'= {
            cand --x 'Column on the horizontal axis; the time if the rows are curves'
            cand --y 'Column that was measured, or a quantity of a run such as goodput, queuing_delay, fairness or completion'
            cand --by 'A curve or a bar for each value of this column; in a map, the vertical axis. May be repeated'
            cand --kind 'line, bar, cdf or heat; by default the one that suits the columns'
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
            cand --figure 'Compare only this figure, such as goodput_bit_s. May be given several times; all figures by default'
            cand --out 'Write a page with the figures and the curves of all'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'afteryou;study'= {
            cand --engine 'The engine. `bed` prints first how long it will take'
            cand --out 'Write a book into this folder: a summary, a page for each paper with its figures, the scenario files'
            cand --jobs 'Runs at the same time; the number of cores by default'
            cand --cache 'Keep the readings of runs in this folder, where an interrupted study resumes; the user''s cache by default'
            cand --list 'Print the entries instead of running them'
            cand --all 'With --engine bed: print how many days all experiments would take on real packets'
            cand --check 'Exit with 1 on any unexplained miss, and on any explanation that is no longer valid'
            cand --quick 'Use thinner grids and fewer seeds, but never shorter runs'
            cand --full-repeats 'Run every seed of the papers'' protocols, where the usual run has fewer'
            cand --second-seeds 'Use the same number of other seeds, to find verdicts that depend on the seeds'
            cand --json 'Print the findings of each entry as JSON, one entry per line'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'afteryou;lab'= {
            cand --out 'Write the page into this file and do not open it'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'afteryou;list'= {
            cand --json 'Print a JSON array, described below'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'afteryou;doctor'= {
            cand --ticket 'The same; neither AFTERYOU_TICKET nor a file shows in `ps`'
            cand --json 'Print a JSON array, described below'
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
            cand send 'Send files and directories to a waiting `afteryou receive`'
            cand receive 'Wait for files; prints the ticket for `afteryou send`'
            cand serve 'Serve files; prints the ticket for `afteryou get`'
            cand get 'Get files and directories from a running `afteryou serve`'
            cand ctl 'Show running jobs, limit their rate, pause and end them'
            cand demo 'Watch a background transfer yield to an upload, with real packets on this machine'
            cand sim 'Run scenario files in the simulator: hours of network in seconds'
            cand fluid 'Solve scenario files as differential equations, in milliseconds'
            cand bed 'Run scenario files with real packets, over sockets of this machine and an emulated link'
            cand merge 'Join parts of a sweep that other processes or machines ran'
            cand sweep 'Run a sweep on a Dask cluster, with the Python package'
            cand plot 'Draw a figure from saved results: curves, bars, distributions, maps'
            cand report 'Draw the pages of a saved result or sweep again'
            cand compare 'Print results side by side, with the differences'
            cand study 'Repeat the experiments of five papers and compare them with the published numbers'
            cand lab 'Open the lab page: the simulator in a browser, with sliders'
            cand list 'List controllers, queues or transports with every parameter'
            cand doctor 'Check this machine and the path to a peer, and suggest remedies'
            cand completions 'Print or install completions for a shell'
            cand man 'Write the manual pages'
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
            cand status 'Show the status of running jobs'
            cand pause 'Pause the transfer; the connection stays open'
            cand resume 'Continue after a pause'
            cand rate 'Limit the rate, in place of earlier limits'
            cand off 'Lift all limits and pauses set here; a timetable takes effect again at its next change'
            cand stop 'End the job; stored data stay, and the same command continues from there'
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
        &'afteryou;help;sweep'= {
        }
        &'afteryou;help;plot'= {
        }
        &'afteryou;help;report'= {
        }
        &'afteryou;help;compare'= {
        }
        &'afteryou;help;study'= {
        }
        &'afteryou;help;lab'= {
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
