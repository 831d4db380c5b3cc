# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_afteryou_global_optspecs
    string join \n h/help V/version
end

function __fish_afteryou_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_afteryou_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_afteryou_using_subcommand
    set -l cmd (__fish_afteryou_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c afteryou -n "__fish_afteryou_needs_command" -s h -l help -d 'Print help'
complete -c afteryou -n "__fish_afteryou_needs_command" -s V -l version -d 'Print version'
complete -c afteryou -n "__fish_afteryou_needs_command" -f -a "send" -d 'Send files and directories to a waiting `afteryou receive`'
complete -c afteryou -n "__fish_afteryou_needs_command" -f -a "receive" -d 'Wait for files; prints the ticket for `afteryou send`'
complete -c afteryou -n "__fish_afteryou_needs_command" -f -a "serve" -d 'Serve files; prints the ticket for `afteryou get`'
complete -c afteryou -n "__fish_afteryou_needs_command" -f -a "get" -d 'Get files and directories from a running `afteryou serve`'
complete -c afteryou -n "__fish_afteryou_needs_command" -f -a "ctl" -d 'Show running jobs, limit their rate, pause and end them'
complete -c afteryou -n "__fish_afteryou_needs_command" -f -a "demo" -d 'Watch a background transfer yield to an upload, with real packets on this machine'
complete -c afteryou -n "__fish_afteryou_needs_command" -f -a "sim" -d 'Run scenario files in the simulator: hours of network in seconds'
complete -c afteryou -n "__fish_afteryou_needs_command" -f -a "fluid" -d 'Solve scenario files as differential equations, in milliseconds'
complete -c afteryou -n "__fish_afteryou_needs_command" -f -a "bed" -d 'Run scenario files with real packets, over sockets of this machine and an emulated link'
complete -c afteryou -n "__fish_afteryou_needs_command" -f -a "merge" -d 'Join parts of a sweep that other processes or machines ran'
complete -c afteryou -n "__fish_afteryou_needs_command" -f -a "sweep" -d 'Run a sweep on a Dask cluster, with the Python package'
complete -c afteryou -n "__fish_afteryou_needs_command" -f -a "plot" -d 'Draw a figure from saved results: curves, bars, distributions, maps'
complete -c afteryou -n "__fish_afteryou_needs_command" -f -a "report" -d 'Draw the pages of a saved result or sweep again'
complete -c afteryou -n "__fish_afteryou_needs_command" -f -a "compare" -d 'Print results side by side, with the differences'
complete -c afteryou -n "__fish_afteryou_needs_command" -f -a "study" -d 'Repeat the experiments of five papers and compare them with the published numbers'
complete -c afteryou -n "__fish_afteryou_needs_command" -f -a "lab" -d 'Open the lab page: the simulator in a browser, with sliders'
complete -c afteryou -n "__fish_afteryou_needs_command" -f -a "list" -d 'List controllers, queues or transports with every parameter'
complete -c afteryou -n "__fish_afteryou_needs_command" -f -a "doctor" -d 'Check this machine and the path to a peer, and suggest remedies'
complete -c afteryou -n "__fish_afteryou_needs_command" -f -a "completions" -d 'Print or install completions for a shell'
complete -c afteryou -n "__fish_afteryou_needs_command" -f -a "man" -d 'Write the manual pages'
complete -c afteryou -n "__fish_afteryou_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c afteryou -n "__fish_afteryou_using_subcommand send" -l symlinks -d 'Choose how symbolic links are handled. `follow` may leave PATH: the target of a link is sent wherever it is' -r -f -a "keep\t'Send links as links, if they point inside the sent files'
skip\t'Leave links out'
follow\t'Send their targets instead'
copy-as-is\t'Send all links as links; `receive` must have --allow-links'"
complete -c afteryou -n "__fish_afteryou_using_subcommand send" -l name -d 'Name of the file that standard input becomes, with - as the PATH' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand send" -l exclude -d 'Leave out files and directories that match, in the syntax of .gitignore; may be repeated' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand send" -l include -d 'Include files again that --exclude leaves out; may be repeated. A file below an excluded directory stays excluded' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand send" -l exclude-from -d 'Read patterns of --exclude from this file, one per line, before the others; !PATTERN includes again, # is a comment' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand send" -l max-delete -d 'Delete nothing if --delete would delete more entries than this: a number, or a percentage of the copy (10%)' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand send" -l backup-dir -d 'Keep replaced and deleted files in this directory below the receiving one' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand send" -l owner -d 'Keep owners and groups, by name or by number; the receiver must run as root' -r -f -a "names\t'The name, if the receiver has it'
numbers\t'The numeric id'"
complete -c afteryou -n "__fish_afteryou_using_subcommand send" -l via -d 'Start afteryou on HOST over ssh, as scp does, instead of using a ticket; HOST:DIR in the ticket\'s place does the same' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand send" -l ssh-command -d 'The ssh program of --via, with its arguments: "ssh -p 2222"' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand send" -l far-command -d 'Command that --via runs as afteryou on the other machine' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand send" -l ticket -d 'The ticket, or @FILE, a file that holds it; neither AFTERYOU_TICKET nor a file shows in `ps`' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand send" -l connections -d 'Number of connections of this job; together they use no more than one would' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand send" -l give-up-after -d 'Fail after this time without a connection; by default try indefinitely' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand send" -l max-rate -d 'Limit the rate, always or by time of day: 5Mbit/s, 512k, "08:00,512k 19:00,off"' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand send" -l controller -d 'Congestion controller for sent data, with optional parameters: NAME[,parameter=value...]' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand send" -l dscp -d 'DSCP of the packets: le (lower effort), default, cs1, or a number from 0 to 63' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand send" -l on-success -d 'Run this command in a shell when the job has ended with exit code 0' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand send" -l on-failure -d 'Run this command in a shell when the job has ended with another exit code, which AFTERYOU_EXIT_CODE holds' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand send" -l qlog -d 'Log each connection into a file in this directory (qlog, for qvis), as its sender sees it' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand send" -l log -d 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand send" -l state -d 'Directory of this machine\'s key; usually ~/.local/state/afteryou' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand send" -l control-dir -d 'Directory in which `afteryou ctl` finds running jobs; usually afteryou in $XDG_RUNTIME_DIR' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand send" -l route-mtu -d 'Longest IP packet of the route, bytes, instead of what the system knows: an emulated path is no loopback' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand send" -s n -l dry-run -d 'Change nothing; print the files that would be stored, replaced and deleted'
complete -c afteryou -n "__fish_afteryou_using_subcommand send" -s u -l update -d 'Skip files that are newer at the receiver'
complete -c afteryou -n "__fish_afteryou_using_subcommand send" -l quick -d 'Treat files with the same size and modification time as unchanged, without reading them'
complete -c afteryou -n "__fish_afteryou_using_subcommand send" -l verify -d 'Read every file at the source, instead of using hashes cached by earlier runs'
complete -c afteryou -n "__fish_afteryou_using_subcommand send" -l delete -d 'Afterwards delete files on the receiver that the source no longer has, in the sent directories'
complete -c afteryou -n "__fish_afteryou_using_subcommand send" -l delete-all -d 'Like --delete, even if a directory of the source is empty'
complete -c afteryou -n "__fish_afteryou_using_subcommand send" -l xattrs -d 'Keep extended attributes whose names begin with `user.`'
complete -c afteryou -n "__fish_afteryou_using_subcommand send" -l acls -d 'Keep POSIX access lists; users and groups in them are numbers'
complete -c afteryou -n "__fish_afteryou_using_subcommand send" -l json -d 'Print one JSON object per line for each event, on stdout'
complete -c afteryou -n "__fish_afteryou_using_subcommand send" -l list -d 'Print the name of each file when it is done, and its result'
complete -c afteryou -n "__fish_afteryou_using_subcommand send" -l strict -d 'Fail (exit code 1 instead of 3) if anything was left out or differs from the source'
complete -c afteryou -n "__fish_afteryou_using_subcommand send" -l stats -d 'Print at the end the number of entries and bytes by result'
complete -c afteryou -n "__fish_afteryou_using_subcommand send" -l notify -d 'Show a desktop notification when the job has ended, with `notify-send` or macOS\' `osascript`'
complete -c afteryou -n "__fish_afteryou_using_subcommand send" -s v -l verbose -d 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
complete -c afteryou -n "__fish_afteryou_using_subcommand send" -s q -l quiet -d 'Print nothing but errors'
complete -c afteryou -n "__fish_afteryou_using_subcommand send" -l json-groups -d 'An event for each chunk group that comes off the wire'
complete -c afteryou -n "__fish_afteryou_using_subcommand send" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c afteryou -n "__fish_afteryou_using_subcommand receive" -l listen -d 'UDP address and port to listen on; port 0 reuses the previous port if it is free' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand receive" -l address -d 'Put this into the ticket, instead of this machine\'s own addresses; may be repeated' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand receive" -l ticket-file -d 'Write the ticket into this file, which only its owner may read, instead of printing it' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand receive" -l max-rate -d 'Limit the rate, always or by time of day: 5Mbit/s, 512k, "08:00,512k 19:00,off"' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand receive" -l controller -d 'Congestion controller for sent data, with optional parameters: NAME[,parameter=value...]' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand receive" -l dscp -d 'DSCP of the packets: le (lower effort), default, cs1, or a number from 0 to 63' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand receive" -l on-success -d 'Run this command in a shell when the job has ended with exit code 0' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand receive" -l on-failure -d 'Run this command in a shell when the job has ended with another exit code, which AFTERYOU_EXIT_CODE holds' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand receive" -l qlog -d 'Log each connection into a file in this directory (qlog, for qvis), as its sender sees it' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand receive" -l log -d 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand receive" -l state -d 'Directory of this machine\'s key; usually ~/.local/state/afteryou' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand receive" -l control-dir -d 'Directory in which `afteryou ctl` finds running jobs; usually afteryou in $XDG_RUNTIME_DIR' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand receive" -l route-mtu -d 'Longest IP packet of the route, bytes, instead of what the system knows: an emulated path is no loopback' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand receive" -l allow-delete -d 'Let senders delete files below DIR that they do not have (`send --delete`), and learn their names'
complete -c afteryou -n "__fish_afteryou_using_subcommand receive" -l allow-links -d 'Let senders make links that point out of DIR (`send --symlinks copy-as-is`). Nothing is ever stored through a link'
complete -c afteryou -n "__fish_afteryou_using_subcommand receive" -l allow-backup -d 'Let senders keep replaced files in a directory below DIR (`send --backup-dir`)'
complete -c afteryou -n "__fish_afteryou_using_subcommand receive" -l allow-owner -d 'Let senders choose users and groups as owners (`send --owner`); it takes effect as root'
complete -c afteryou -n "__fish_afteryou_using_subcommand receive" -l allow-xattrs -d 'Let senders set extended attributes whose names begin with `user.` (`send --xattrs`)'
complete -c afteryou -n "__fish_afteryou_using_subcommand receive" -l allow-acls -d 'Let senders set access lists, which give rights to other users (`send --acls`)'
complete -c afteryou -n "__fish_afteryou_using_subcommand receive" -l once -d 'End after the first job that is complete'
complete -c afteryou -n "__fish_afteryou_using_subcommand receive" -l ticket-only -d 'For scripts and ssh: print only the ticket, use a temporary key, and end with standard input'
complete -c afteryou -n "__fish_afteryou_using_subcommand receive" -l qr -d 'Show the ticket as a QR code on stderr, too'
complete -c afteryou -n "__fish_afteryou_using_subcommand receive" -l new-ticket -d 'Make a new secret: tickets printed so far are void'
complete -c afteryou -n "__fish_afteryou_using_subcommand receive" -l json -d 'Print one JSON object per line for each event, on stdout'
complete -c afteryou -n "__fish_afteryou_using_subcommand receive" -l list -d 'Print the name of each file when it is done, and its result'
complete -c afteryou -n "__fish_afteryou_using_subcommand receive" -l strict -d 'Fail (exit code 1 instead of 3) if anything was left out or differs from the source'
complete -c afteryou -n "__fish_afteryou_using_subcommand receive" -l stats -d 'Print at the end the number of entries and bytes by result'
complete -c afteryou -n "__fish_afteryou_using_subcommand receive" -l notify -d 'Show a desktop notification when the job has ended, with `notify-send` or macOS\' `osascript`'
complete -c afteryou -n "__fish_afteryou_using_subcommand receive" -s v -l verbose -d 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
complete -c afteryou -n "__fish_afteryou_using_subcommand receive" -s q -l quiet -d 'Print nothing but errors'
complete -c afteryou -n "__fish_afteryou_using_subcommand receive" -l json-groups -d 'An event for each chunk group that comes off the wire'
complete -c afteryou -n "__fish_afteryou_using_subcommand receive" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c afteryou -n "__fish_afteryou_using_subcommand serve" -l symlinks -d 'Choose how symbolic links are handled. `follow` never leaves DIR' -r -f -a "keep\t'Send links as links, if they point inside the sent files'
skip\t'Leave links out'
follow\t'Send their targets instead'
copy-as-is\t'Send all links as links; `receive` must have --allow-links'"
complete -c afteryou -n "__fish_afteryou_using_subcommand serve" -l exclude -d 'Leave out files and directories that match, in the syntax of .gitignore; may be repeated' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand serve" -l include -d 'Include files again that --exclude leaves out; may be repeated. A file below an excluded directory stays excluded' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand serve" -l exclude-from -d 'Read patterns of --exclude from this file, one per line, before the others; !PATTERN includes again, # is a comment' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand serve" -l listen -d 'UDP address and port to listen on; port 0 reuses the previous port if it is free' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand serve" -l address -d 'Put this into the ticket, instead of this machine\'s own addresses; may be repeated' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand serve" -l ticket-file -d 'Write the ticket into this file, which only its owner may read, instead of printing it' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand serve" -l max-rate -d 'Limit the rate, always or by time of day: 5Mbit/s, 512k, "08:00,512k 19:00,off"' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand serve" -l controller -d 'Congestion controller for sent data, with optional parameters: NAME[,parameter=value...]' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand serve" -l dscp -d 'DSCP of the packets: le (lower effort), default, cs1, or a number from 0 to 63' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand serve" -l on-success -d 'Run this command in a shell when the job has ended with exit code 0' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand serve" -l on-failure -d 'Run this command in a shell when the job has ended with another exit code, which AFTERYOU_EXIT_CODE holds' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand serve" -l qlog -d 'Log each connection into a file in this directory (qlog, for qvis), as its sender sees it' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand serve" -l log -d 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand serve" -l state -d 'Directory of this machine\'s key; usually ~/.local/state/afteryou' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand serve" -l control-dir -d 'Directory in which `afteryou ctl` finds running jobs; usually afteryou in $XDG_RUNTIME_DIR' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand serve" -l route-mtu -d 'Longest IP packet of the route, bytes, instead of what the system knows: an emulated path is no loopback' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand serve" -l once -d 'End after the first job that is complete'
complete -c afteryou -n "__fish_afteryou_using_subcommand serve" -l ticket-only -d 'For scripts and ssh: print only the ticket, use a temporary key, and end with standard input'
complete -c afteryou -n "__fish_afteryou_using_subcommand serve" -l qr -d 'Show the ticket as a QR code on stderr, too'
complete -c afteryou -n "__fish_afteryou_using_subcommand serve" -l new-ticket -d 'Make a new secret: tickets printed so far are void'
complete -c afteryou -n "__fish_afteryou_using_subcommand serve" -l json -d 'Print one JSON object per line for each event, on stdout'
complete -c afteryou -n "__fish_afteryou_using_subcommand serve" -l list -d 'Print the name of each file when it is done, and its result'
complete -c afteryou -n "__fish_afteryou_using_subcommand serve" -l strict -d 'Fail (exit code 1 instead of 3) if anything was left out or differs from the source'
complete -c afteryou -n "__fish_afteryou_using_subcommand serve" -l stats -d 'Print at the end the number of entries and bytes by result'
complete -c afteryou -n "__fish_afteryou_using_subcommand serve" -l notify -d 'Show a desktop notification when the job has ended, with `notify-send` or macOS\' `osascript`'
complete -c afteryou -n "__fish_afteryou_using_subcommand serve" -s v -l verbose -d 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
complete -c afteryou -n "__fish_afteryou_using_subcommand serve" -s q -l quiet -d 'Print nothing but errors'
complete -c afteryou -n "__fish_afteryou_using_subcommand serve" -l json-groups -d 'An event for each chunk group that comes off the wire'
complete -c afteryou -n "__fish_afteryou_using_subcommand serve" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c afteryou -n "__fish_afteryou_using_subcommand get" -l exclude -d 'Leave out files and directories that match, in the syntax of .gitignore; may be repeated' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand get" -l include -d 'Include files again that --exclude leaves out; may be repeated. A file below an excluded directory stays excluded' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand get" -l exclude-from -d 'Read patterns of --exclude from this file, one per line, before the others; !PATTERN includes again, # is a comment' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand get" -l max-delete -d 'Delete nothing if --delete would delete more entries than this: a number, or a percentage of the copy (10%)' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand get" -l backup-dir -d 'Keep replaced and deleted files in this directory below the receiving one' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand get" -l owner -d 'Keep owners and groups, by name or by number; the receiver must run as root' -r -f -a "names\t'The name, if the receiver has it'
numbers\t'The numeric id'"
complete -c afteryou -n "__fish_afteryou_using_subcommand get" -l via -d 'Start afteryou on HOST over ssh, as scp does, instead of using a ticket; HOST:DIR in the ticket\'s place does the same' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand get" -l ssh-command -d 'The ssh program of --via, with its arguments: "ssh -p 2222"' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand get" -l far-command -d 'Command that --via runs as afteryou on the other machine' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand get" -l ticket -d 'The ticket, or @FILE, a file that holds it; neither AFTERYOU_TICKET nor a file shows in `ps`' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand get" -l connections -d 'Number of connections of this job; together they use no more than one would' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand get" -l give-up-after -d 'Fail after this time without a connection; by default try indefinitely' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand get" -l max-rate -d 'Limit the rate, always or by time of day: 5Mbit/s, 512k, "08:00,512k 19:00,off"' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand get" -l controller -d 'Congestion controller for sent data, with optional parameters: NAME[,parameter=value...]' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand get" -l dscp -d 'DSCP of the packets: le (lower effort), default, cs1, or a number from 0 to 63' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand get" -l on-success -d 'Run this command in a shell when the job has ended with exit code 0' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand get" -l on-failure -d 'Run this command in a shell when the job has ended with another exit code, which AFTERYOU_EXIT_CODE holds' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand get" -l qlog -d 'Log each connection into a file in this directory (qlog, for qvis), as its sender sees it' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand get" -l log -d 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand get" -l state -d 'Directory of this machine\'s key; usually ~/.local/state/afteryou' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand get" -l control-dir -d 'Directory in which `afteryou ctl` finds running jobs; usually afteryou in $XDG_RUNTIME_DIR' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand get" -l route-mtu -d 'Longest IP packet of the route, bytes, instead of what the system knows: an emulated path is no loopback' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand get" -s n -l dry-run -d 'Change nothing; print the files that would be stored, replaced and deleted'
complete -c afteryou -n "__fish_afteryou_using_subcommand get" -s u -l update -d 'Skip files that are newer at the receiver'
complete -c afteryou -n "__fish_afteryou_using_subcommand get" -l quick -d 'Treat files with the same size and modification time as unchanged, without reading them'
complete -c afteryou -n "__fish_afteryou_using_subcommand get" -l verify -d 'Read every file at the source, instead of using hashes cached by earlier runs'
complete -c afteryou -n "__fish_afteryou_using_subcommand get" -l delete -d 'Afterwards delete files on the receiver that the source no longer has, in the sent directories'
complete -c afteryou -n "__fish_afteryou_using_subcommand get" -l delete-all -d 'Like --delete, even if a directory of the source is empty'
complete -c afteryou -n "__fish_afteryou_using_subcommand get" -l xattrs -d 'Keep extended attributes whose names begin with `user.`'
complete -c afteryou -n "__fish_afteryou_using_subcommand get" -l acls -d 'Keep POSIX access lists; users and groups in them are numbers'
complete -c afteryou -n "__fish_afteryou_using_subcommand get" -l json -d 'Print one JSON object per line for each event, on stdout'
complete -c afteryou -n "__fish_afteryou_using_subcommand get" -l list -d 'Print the name of each file when it is done, and its result'
complete -c afteryou -n "__fish_afteryou_using_subcommand get" -l strict -d 'Fail (exit code 1 instead of 3) if anything was left out or differs from the source'
complete -c afteryou -n "__fish_afteryou_using_subcommand get" -l stats -d 'Print at the end the number of entries and bytes by result'
complete -c afteryou -n "__fish_afteryou_using_subcommand get" -l notify -d 'Show a desktop notification when the job has ended, with `notify-send` or macOS\' `osascript`'
complete -c afteryou -n "__fish_afteryou_using_subcommand get" -s v -l verbose -d 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
complete -c afteryou -n "__fish_afteryou_using_subcommand get" -s q -l quiet -d 'Print nothing but errors'
complete -c afteryou -n "__fish_afteryou_using_subcommand get" -l json-groups -d 'An event for each chunk group that comes off the wire'
complete -c afteryou -n "__fish_afteryou_using_subcommand get" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and not __fish_seen_subcommand_from status pause resume rate off stop help" -l job -d 'Process ID of the job; not needed if only one runs' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and not __fish_seen_subcommand_from status pause resume rate off stop help" -l log -d 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and not __fish_seen_subcommand_from status pause resume rate off stop help" -l control-dir -d 'Directory of running jobs; usually afteryou in $XDG_RUNTIME_DIR' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and not __fish_seen_subcommand_from status pause resume rate off stop help" -l json -d 'Print one JSON object per line for each job'
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and not __fish_seen_subcommand_from status pause resume rate off stop help" -s v -l verbose -d 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and not __fish_seen_subcommand_from status pause resume rate off stop help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and not __fish_seen_subcommand_from status pause resume rate off stop help" -f -a "status" -d 'Show the status of running jobs'
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and not __fish_seen_subcommand_from status pause resume rate off stop help" -f -a "pause" -d 'Pause the transfer; the connection stays open'
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and not __fish_seen_subcommand_from status pause resume rate off stop help" -f -a "resume" -d 'Continue after a pause'
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and not __fish_seen_subcommand_from status pause resume rate off stop help" -f -a "rate" -d 'Limit the rate, in place of earlier limits'
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and not __fish_seen_subcommand_from status pause resume rate off stop help" -f -a "off" -d 'Lift all limits and pauses set here; a timetable takes effect again at its next change'
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and not __fish_seen_subcommand_from status pause resume rate off stop help" -f -a "stop" -d 'End the job; stored data stay, and the same command continues from there'
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and not __fish_seen_subcommand_from status pause resume rate off stop help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from status" -l job -d 'Process ID of the job; not needed if only one runs' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from status" -l log -d 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from status" -l control-dir -d 'Directory of running jobs; usually afteryou in $XDG_RUNTIME_DIR' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from status" -l json -d 'Print one JSON object per line for each job'
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from status" -s v -l verbose -d 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from pause" -l job -d 'Process ID of the job; not needed if only one runs' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from pause" -l log -d 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from pause" -l control-dir -d 'Directory of running jobs; usually afteryou in $XDG_RUNTIME_DIR' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from pause" -l json -d 'Print one JSON object per line for each job'
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from pause" -s v -l verbose -d 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from pause" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from resume" -l job -d 'Process ID of the job; not needed if only one runs' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from resume" -l log -d 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from resume" -l control-dir -d 'Directory of running jobs; usually afteryou in $XDG_RUNTIME_DIR' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from resume" -l json -d 'Print one JSON object per line for each job'
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from resume" -s v -l verbose -d 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from resume" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from rate" -l job -d 'Process ID of the job; not needed if only one runs' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from rate" -l log -d 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from rate" -l control-dir -d 'Directory of running jobs; usually afteryou in $XDG_RUNTIME_DIR' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from rate" -l json -d 'Print one JSON object per line for each job'
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from rate" -s v -l verbose -d 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from rate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from off" -l job -d 'Process ID of the job; not needed if only one runs' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from off" -l log -d 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from off" -l control-dir -d 'Directory of running jobs; usually afteryou in $XDG_RUNTIME_DIR' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from off" -l json -d 'Print one JSON object per line for each job'
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from off" -s v -l verbose -d 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from off" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from stop" -l job -d 'Process ID of the job; not needed if only one runs' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from stop" -l log -d 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from stop" -l control-dir -d 'Directory of running jobs; usually afteryou in $XDG_RUNTIME_DIR' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from stop" -l json -d 'Print one JSON object per line for each job'
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from stop" -s v -l verbose -d 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step'
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from stop" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from help" -f -a "status" -d 'Show the status of running jobs'
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from help" -f -a "pause" -d 'Pause the transfer; the connection stays open'
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from help" -f -a "resume" -d 'Continue after a pause'
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from help" -f -a "rate" -d 'Limit the rate, in place of earlier limits'
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from help" -f -a "off" -d 'Lift all limits and pauses set here; a timetable takes effect again at its next change'
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from help" -f -a "stop" -d 'End the job; stored data stay, and the same command continues from there'
complete -c afteryou -n "__fish_afteryou_using_subcommand ctl; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c afteryou -n "__fish_afteryou_using_subcommand demo" -l controller -d 'The transfer\'s congestion controller, with optional parameters: NAME[,parameter=value...]' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand demo" -l seconds -d 'Duration in seconds; at least 24' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand demo" -l rate -d 'Rate of the bottleneck' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand demo" -l rtt -d 'Base round-trip time: 40ms, 0.25s' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand demo" -l buffer -d 'Size of the bottleneck\'s queue, in time, packets or bytes: 500ms, 100packets, 64KiB' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand demo" -l queue -d 'The bottleneck\'s queue discipline, with optional parameters: NAME[,parameter=value...]' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand demo" -l loss -d 'Packets lost at random, in each direction: 0.1%' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand demo" -l file -d 'Send this file instead of generated data' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand demo" -l out -d 'Folder for the report' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand demo" -l seed -d 'Seed of every random choice' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand demo" -l real -d 'Let the upload be the kernel\'s own TCP, in network namespaces; on Linux, as root'
complete -c afteryou -n "__fish_afteryou_using_subcommand demo" -l json -d 'Write the result to stdout as JSON; progress goes to stderr either way'
complete -c afteryou -n "__fish_afteryou_using_subcommand demo" -s v -l verbose -d 'Print every table, not only the verdict'
complete -c afteryou -n "__fish_afteryou_using_subcommand demo" -l check -d 'Exit with 1 if the verdict is bad'
complete -c afteryou -n "__fish_afteryou_using_subcommand demo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c afteryou -n "__fish_afteryou_using_subcommand sim" -l trace -d 'Write every packet at every link into this file (pcapng, for Wireshark); the file must describe one run' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand sim" -l qlog -d 'Write every sender into a file in this folder (qlog, for qvis); the file must describe one run' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand sim" -l out -d 'Write reports, results and curves into this folder' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand sim" -l seed -d 'Seed of every random choice, instead of the file\'s' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand sim" -l repeat -d 'Run each combination this many times, with seeds N, N+1, …' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand sim" -l jobs -d 'Runs at the same time; the number of cores by default' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand sim" -l shard -d 'Run part I of N of a sweep: every N-th run, from the I-th; join the folders with afteryou merge' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand sim" -l set -d 'Replace a setting of the file, such as link.rate="5 Mbit/s" or flow.backup.rtt="10 ms"' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand sim" -l json -d 'Print the result of each run as JSON, one per line, on stdout'
complete -c afteryou -n "__fish_afteryou_using_subcommand sim" -s v -l verbose -d 'Print every table, not only the headline'
complete -c afteryou -n "__fish_afteryou_using_subcommand sim" -l no-series -d 'Write only tables into --out, without curves and without a folder for each run of a sweep'
complete -c afteryou -n "__fish_afteryou_using_subcommand sim" -l parquet -d 'Write tables and curves as Parquet, too'
complete -c afteryou -n "__fish_afteryou_using_subcommand sim" -l untrusted -d 'For scenarios that others wrote: open files only below the scenario\'s folder, links resolved, and start no program'
complete -c afteryou -n "__fish_afteryou_using_subcommand sim" -s h -l help -d 'Print help'
complete -c afteryou -n "__fish_afteryou_using_subcommand fluid" -l trace -d 'Write every packet at every link into this file (pcapng, for Wireshark); the file must describe one run' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand fluid" -l qlog -d 'Write every sender into a file in this folder (qlog, for qvis); the file must describe one run' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand fluid" -l out -d 'Write reports, results and curves into this folder' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand fluid" -l seed -d 'Seed of every random choice, instead of the file\'s' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand fluid" -l repeat -d 'Run each combination this many times, with seeds N, N+1, …' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand fluid" -l jobs -d 'Runs at the same time; the number of cores by default' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand fluid" -l shard -d 'Run part I of N of a sweep: every N-th run, from the I-th; join the folders with afteryou merge' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand fluid" -l set -d 'Replace a setting of the file, such as link.rate="5 Mbit/s" or flow.backup.rtt="10 ms"' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand fluid" -l explain -d 'Print the equilibrium, time constants and stability of the scenario, and the expected shares, without running it'
complete -c afteryou -n "__fish_afteryou_using_subcommand fluid" -l json -d 'Print the result of each run as JSON, one per line, on stdout'
complete -c afteryou -n "__fish_afteryou_using_subcommand fluid" -s v -l verbose -d 'Print every table, not only the headline'
complete -c afteryou -n "__fish_afteryou_using_subcommand fluid" -l no-series -d 'Write only tables into --out, without curves and without a folder for each run of a sweep'
complete -c afteryou -n "__fish_afteryou_using_subcommand fluid" -l parquet -d 'Write tables and curves as Parquet, too'
complete -c afteryou -n "__fish_afteryou_using_subcommand fluid" -l untrusted -d 'For scenarios that others wrote: open files only below the scenario\'s folder, links resolved, and start no program'
complete -c afteryou -n "__fish_afteryou_using_subcommand fluid" -s h -l help -d 'Print help'
complete -c afteryou -n "__fish_afteryou_using_subcommand bed" -l trace -d 'Write every packet at every link into this file (pcapng, for Wireshark); the file must describe one run' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand bed" -l qlog -d 'Write every sender into a file in this folder (qlog, for qvis); the file must describe one run' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand bed" -l out -d 'Write reports, results and curves into this folder' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand bed" -l seed -d 'Seed of every random choice, instead of the file\'s' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand bed" -l repeat -d 'Run each combination this many times, with seeds N, N+1, …' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand bed" -l jobs -d 'Runs at the same time; the number of cores by default' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand bed" -l shard -d 'Run part I of N of a sweep: every N-th run, from the I-th; join the folders with afteryou merge' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand bed" -l set -d 'Replace a setting of the file, such as link.rate="5 Mbit/s" or flow.backup.rtt="10 ms"' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand bed" -l queue-by -d 'Choose the queues at links that data cross: those of afteryou, as in the simulator, or the kernel\'s own queue disciplines below htb' -r -f -a "afteryou\t''
kernel\t''"
complete -c afteryou -n "__fish_afteryou_using_subcommand bed" -l json -d 'Print the result of each run as JSON, one per line, on stdout'
complete -c afteryou -n "__fish_afteryou_using_subcommand bed" -s v -l verbose -d 'Print every table, not only the headline'
complete -c afteryou -n "__fish_afteryou_using_subcommand bed" -l no-series -d 'Write only tables into --out, without curves and without a folder for each run of a sweep'
complete -c afteryou -n "__fish_afteryou_using_subcommand bed" -l parquet -d 'Write tables and curves as Parquet, too'
complete -c afteryou -n "__fish_afteryou_using_subcommand bed" -l untrusted -d 'For scenarios that others wrote: open files only below the scenario\'s folder, links resolved, and start no program'
complete -c afteryou -n "__fish_afteryou_using_subcommand bed" -l clean -d 'End the programs that killed runs have left behind, as every run does before it begins; takes no file'
complete -c afteryou -n "__fish_afteryou_using_subcommand bed" -s h -l help -d 'Print help'
complete -c afteryou -n "__fish_afteryou_using_subcommand merge" -l out -d 'Write the whole sweep into this folder' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand merge" -l parquet -d 'Write tables as Parquet, too'
complete -c afteryou -n "__fish_afteryou_using_subcommand merge" -s v -l verbose -d 'Print every table, not the first rows alone'
complete -c afteryou -n "__fish_afteryou_using_subcommand merge" -s h -l help -d 'Print help'
complete -c afteryou -n "__fish_afteryou_using_subcommand sweep" -l dask -d 'Address of the cluster\'s Dask scheduler' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand sweep" -l out -d 'Keep results in this folder, where an interrupted sweep resumes' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand sweep" -l engine -d 'The engine: sim or fluid' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand sweep" -l seed -d 'Seed of the first repetition, instead of the file\'s' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand sweep" -l repeat -d 'Repetitions of each combination, instead of the file\'s' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand sweep" -s h -l help -d 'Print help'
complete -c afteryou -n "__fish_afteryou_using_subcommand plot" -l x -d 'Column on the horizontal axis; the time if the rows are curves' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand plot" -l y -d 'Column that was measured, or a quantity of a run such as goodput, queuing_delay, fairness or completion' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand plot" -l by -d 'A curve or a bar for each value of this column; in a map, the vertical axis. May be repeated' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand plot" -l kind -d 'line, bar, cdf or heat; by default the one that suits the columns' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand plot" -l only -d 'Only rows in which a column has a value, such as window=measured. May be repeated' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand plot" -l title -d 'Title, instead of the columns\' names' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand plot" -l out -d 'File to write; .png for a picture, .svg for a drawing' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand plot" -s h -l help -d 'Print help'
complete -c afteryou -n "__fish_afteryou_using_subcommand report" -l png -d 'Write each figure as figure.png, too'
complete -c afteryou -n "__fish_afteryou_using_subcommand report" -s h -l help -d 'Print help'
complete -c afteryou -n "__fish_afteryou_using_subcommand compare" -l figure -d 'Compare only this figure, such as goodput_bit_s. May be given several times; all figures by default' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand compare" -l out -d 'Write a page with the figures and the curves of all' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand compare" -s h -l help -d 'Print help'
complete -c afteryou -n "__fish_afteryou_using_subcommand study" -l engine -d 'The engine. `bed` prints first how long it will take' -r -f -a "sim\t'The packet simulator, and the fluid model where the paper has one'
bed\t'Real packets, only for the testbed set: about two hours of traffic, several runs at the same time. Linux, as root'"
complete -c afteryou -n "__fish_afteryou_using_subcommand study" -l out -d 'Write a book into this folder: a summary, a page for each paper with its figures, the scenario files' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand study" -l jobs -d 'Runs at the same time; the number of cores by default' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand study" -l cache -d 'Keep the readings of runs in this folder, where an interrupted study resumes; the user\'s cache by default' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand study" -l list -d 'Print the entries instead of running them'
complete -c afteryou -n "__fish_afteryou_using_subcommand study" -l all -d 'With --engine bed: print how many days all experiments would take on real packets'
complete -c afteryou -n "__fish_afteryou_using_subcommand study" -l check -d 'Exit with 1 on any unexplained miss, and on any explanation that is no longer valid'
complete -c afteryou -n "__fish_afteryou_using_subcommand study" -l quick -d 'Use thinner grids and fewer seeds, but never shorter runs'
complete -c afteryou -n "__fish_afteryou_using_subcommand study" -l full-repeats -d 'Run every seed of the papers\' protocols, where the usual run has fewer'
complete -c afteryou -n "__fish_afteryou_using_subcommand study" -l second-seeds -d 'Use the same number of other seeds, to find verdicts that depend on the seeds'
complete -c afteryou -n "__fish_afteryou_using_subcommand study" -l json -d 'Print the findings of each entry as JSON, one entry per line'
complete -c afteryou -n "__fish_afteryou_using_subcommand study" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c afteryou -n "__fish_afteryou_using_subcommand lab" -l out -d 'Write the page into this file and do not open it' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand lab" -s h -l help -d 'Print help'
complete -c afteryou -n "__fish_afteryou_using_subcommand list" -l json -d 'Print a JSON array, described below'
complete -c afteryou -n "__fish_afteryou_using_subcommand list" -s h -l help -d 'Print help'
complete -c afteryou -n "__fish_afteryou_using_subcommand doctor" -l ticket -d 'The same; neither AFTERYOU_TICKET nor a file shows in `ps`' -r
complete -c afteryou -n "__fish_afteryou_using_subcommand doctor" -l json -d 'Print a JSON array, described below'
complete -c afteryou -n "__fish_afteryou_using_subcommand doctor" -s h -l help -d 'Print help'
complete -c afteryou -n "__fish_afteryou_using_subcommand completions" -s h -l help -d 'Print help'
complete -c afteryou -n "__fish_afteryou_using_subcommand man" -l out -d 'Write all pages into this directory instead' -r -F
complete -c afteryou -n "__fish_afteryou_using_subcommand man" -s h -l help -d 'Print help'
complete -c afteryou -n "__fish_afteryou_using_subcommand help; and not __fish_seen_subcommand_from send receive serve get ctl demo sim fluid bed merge sweep plot report compare study lab list doctor completions man help" -f -a "send" -d 'Send files and directories to a waiting `afteryou receive`'
complete -c afteryou -n "__fish_afteryou_using_subcommand help; and not __fish_seen_subcommand_from send receive serve get ctl demo sim fluid bed merge sweep plot report compare study lab list doctor completions man help" -f -a "receive" -d 'Wait for files; prints the ticket for `afteryou send`'
complete -c afteryou -n "__fish_afteryou_using_subcommand help; and not __fish_seen_subcommand_from send receive serve get ctl demo sim fluid bed merge sweep plot report compare study lab list doctor completions man help" -f -a "serve" -d 'Serve files; prints the ticket for `afteryou get`'
complete -c afteryou -n "__fish_afteryou_using_subcommand help; and not __fish_seen_subcommand_from send receive serve get ctl demo sim fluid bed merge sweep plot report compare study lab list doctor completions man help" -f -a "get" -d 'Get files and directories from a running `afteryou serve`'
complete -c afteryou -n "__fish_afteryou_using_subcommand help; and not __fish_seen_subcommand_from send receive serve get ctl demo sim fluid bed merge sweep plot report compare study lab list doctor completions man help" -f -a "ctl" -d 'Show running jobs, limit their rate, pause and end them'
complete -c afteryou -n "__fish_afteryou_using_subcommand help; and not __fish_seen_subcommand_from send receive serve get ctl demo sim fluid bed merge sweep plot report compare study lab list doctor completions man help" -f -a "demo" -d 'Watch a background transfer yield to an upload, with real packets on this machine'
complete -c afteryou -n "__fish_afteryou_using_subcommand help; and not __fish_seen_subcommand_from send receive serve get ctl demo sim fluid bed merge sweep plot report compare study lab list doctor completions man help" -f -a "sim" -d 'Run scenario files in the simulator: hours of network in seconds'
complete -c afteryou -n "__fish_afteryou_using_subcommand help; and not __fish_seen_subcommand_from send receive serve get ctl demo sim fluid bed merge sweep plot report compare study lab list doctor completions man help" -f -a "fluid" -d 'Solve scenario files as differential equations, in milliseconds'
complete -c afteryou -n "__fish_afteryou_using_subcommand help; and not __fish_seen_subcommand_from send receive serve get ctl demo sim fluid bed merge sweep plot report compare study lab list doctor completions man help" -f -a "bed" -d 'Run scenario files with real packets, over sockets of this machine and an emulated link'
complete -c afteryou -n "__fish_afteryou_using_subcommand help; and not __fish_seen_subcommand_from send receive serve get ctl demo sim fluid bed merge sweep plot report compare study lab list doctor completions man help" -f -a "merge" -d 'Join parts of a sweep that other processes or machines ran'
complete -c afteryou -n "__fish_afteryou_using_subcommand help; and not __fish_seen_subcommand_from send receive serve get ctl demo sim fluid bed merge sweep plot report compare study lab list doctor completions man help" -f -a "sweep" -d 'Run a sweep on a Dask cluster, with the Python package'
complete -c afteryou -n "__fish_afteryou_using_subcommand help; and not __fish_seen_subcommand_from send receive serve get ctl demo sim fluid bed merge sweep plot report compare study lab list doctor completions man help" -f -a "plot" -d 'Draw a figure from saved results: curves, bars, distributions, maps'
complete -c afteryou -n "__fish_afteryou_using_subcommand help; and not __fish_seen_subcommand_from send receive serve get ctl demo sim fluid bed merge sweep plot report compare study lab list doctor completions man help" -f -a "report" -d 'Draw the pages of a saved result or sweep again'
complete -c afteryou -n "__fish_afteryou_using_subcommand help; and not __fish_seen_subcommand_from send receive serve get ctl demo sim fluid bed merge sweep plot report compare study lab list doctor completions man help" -f -a "compare" -d 'Print results side by side, with the differences'
complete -c afteryou -n "__fish_afteryou_using_subcommand help; and not __fish_seen_subcommand_from send receive serve get ctl demo sim fluid bed merge sweep plot report compare study lab list doctor completions man help" -f -a "study" -d 'Repeat the experiments of five papers and compare them with the published numbers'
complete -c afteryou -n "__fish_afteryou_using_subcommand help; and not __fish_seen_subcommand_from send receive serve get ctl demo sim fluid bed merge sweep plot report compare study lab list doctor completions man help" -f -a "lab" -d 'Open the lab page: the simulator in a browser, with sliders'
complete -c afteryou -n "__fish_afteryou_using_subcommand help; and not __fish_seen_subcommand_from send receive serve get ctl demo sim fluid bed merge sweep plot report compare study lab list doctor completions man help" -f -a "list" -d 'List controllers, queues or transports with every parameter'
complete -c afteryou -n "__fish_afteryou_using_subcommand help; and not __fish_seen_subcommand_from send receive serve get ctl demo sim fluid bed merge sweep plot report compare study lab list doctor completions man help" -f -a "doctor" -d 'Check this machine and the path to a peer, and suggest remedies'
complete -c afteryou -n "__fish_afteryou_using_subcommand help; and not __fish_seen_subcommand_from send receive serve get ctl demo sim fluid bed merge sweep plot report compare study lab list doctor completions man help" -f -a "completions" -d 'Print or install completions for a shell'
complete -c afteryou -n "__fish_afteryou_using_subcommand help; and not __fish_seen_subcommand_from send receive serve get ctl demo sim fluid bed merge sweep plot report compare study lab list doctor completions man help" -f -a "man" -d 'Write the manual pages'
complete -c afteryou -n "__fish_afteryou_using_subcommand help; and not __fish_seen_subcommand_from send receive serve get ctl demo sim fluid bed merge sweep plot report compare study lab list doctor completions man help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c afteryou -n "__fish_afteryou_using_subcommand help; and __fish_seen_subcommand_from ctl" -f -a "status" -d 'Show the status of running jobs'
complete -c afteryou -n "__fish_afteryou_using_subcommand help; and __fish_seen_subcommand_from ctl" -f -a "pause" -d 'Pause the transfer; the connection stays open'
complete -c afteryou -n "__fish_afteryou_using_subcommand help; and __fish_seen_subcommand_from ctl" -f -a "resume" -d 'Continue after a pause'
complete -c afteryou -n "__fish_afteryou_using_subcommand help; and __fish_seen_subcommand_from ctl" -f -a "rate" -d 'Limit the rate, in place of earlier limits'
complete -c afteryou -n "__fish_afteryou_using_subcommand help; and __fish_seen_subcommand_from ctl" -f -a "off" -d 'Lift all limits and pauses set here; a timetable takes effect again at its next change'
complete -c afteryou -n "__fish_afteryou_using_subcommand help; and __fish_seen_subcommand_from ctl" -f -a "stop" -d 'End the job; stored data stay, and the same command continues from there'
