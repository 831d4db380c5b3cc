
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'afteryou' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'afteryou'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'afteryou' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('send', 'send', [CompletionResultType]::ParameterValue, 'Send files and directories to a waiting `afteryou receive`')
            [CompletionResult]::new('receive', 'receive', [CompletionResultType]::ParameterValue, 'Wait for files; prints the ticket for `afteryou send`')
            [CompletionResult]::new('serve', 'serve', [CompletionResultType]::ParameterValue, 'Serve files; prints the ticket for `afteryou get`')
            [CompletionResult]::new('get', 'get', [CompletionResultType]::ParameterValue, 'Get files and directories from a running `afteryou serve`')
            [CompletionResult]::new('ctl', 'ctl', [CompletionResultType]::ParameterValue, 'Show running jobs, limit their rate, pause and end them')
            [CompletionResult]::new('demo', 'demo', [CompletionResultType]::ParameterValue, 'Watch a background transfer yield to an upload, with real packets on this machine')
            [CompletionResult]::new('sim', 'sim', [CompletionResultType]::ParameterValue, 'Run scenario files in the simulator: hours of network in seconds')
            [CompletionResult]::new('fluid', 'fluid', [CompletionResultType]::ParameterValue, 'Solve scenario files as differential equations, in milliseconds')
            [CompletionResult]::new('bed', 'bed', [CompletionResultType]::ParameterValue, 'Run scenario files with real packets, over sockets of this machine and an emulated link')
            [CompletionResult]::new('merge', 'merge', [CompletionResultType]::ParameterValue, 'Join parts of a sweep that other processes or machines ran')
            [CompletionResult]::new('sweep', 'sweep', [CompletionResultType]::ParameterValue, 'Run a sweep on a Dask cluster, with the Python package')
            [CompletionResult]::new('plot', 'plot', [CompletionResultType]::ParameterValue, 'Draw a figure from saved results: curves, bars, distributions, maps')
            [CompletionResult]::new('report', 'report', [CompletionResultType]::ParameterValue, 'Draw the pages of a saved result or sweep again')
            [CompletionResult]::new('compare', 'compare', [CompletionResultType]::ParameterValue, 'Print results side by side, with the differences')
            [CompletionResult]::new('study', 'study', [CompletionResultType]::ParameterValue, 'Repeat the experiments of five papers and compare them with the published numbers')
            [CompletionResult]::new('lab', 'lab', [CompletionResultType]::ParameterValue, 'Open the lab page: the simulator in a browser, with sliders')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List controllers, queues or transports with every parameter')
            [CompletionResult]::new('doctor', 'doctor', [CompletionResultType]::ParameterValue, 'Check this machine and the path to a peer, and suggest remedies')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print or install completions for a shell')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Write the manual pages')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'afteryou;send' {
            [CompletionResult]::new('--symlinks', '--symlinks', [CompletionResultType]::ParameterName, 'Choose how symbolic links are handled. `follow` may leave PATH: the target of a link is sent wherever it is')
            [CompletionResult]::new('--name', '--name', [CompletionResultType]::ParameterName, 'Name of the file that standard input becomes, with - as the PATH')
            [CompletionResult]::new('--exclude', '--exclude', [CompletionResultType]::ParameterName, 'Leave out files and directories that match, in the syntax of .gitignore; may be repeated')
            [CompletionResult]::new('--include', '--include', [CompletionResultType]::ParameterName, 'Include files again that --exclude leaves out; may be repeated. A file below an excluded directory stays excluded')
            [CompletionResult]::new('--exclude-from', '--exclude-from', [CompletionResultType]::ParameterName, 'Read patterns of --exclude from this file, one per line, before the others; !PATTERN includes again, # is a comment')
            [CompletionResult]::new('--max-delete', '--max-delete', [CompletionResultType]::ParameterName, 'Delete nothing if --delete would delete more entries than this: a number, or a percentage of the copy (10%)')
            [CompletionResult]::new('--backup-dir', '--backup-dir', [CompletionResultType]::ParameterName, 'Keep replaced and deleted files in this directory below the receiving one')
            [CompletionResult]::new('--owner', '--owner', [CompletionResultType]::ParameterName, 'Keep owners and groups, by name or by number; the receiver must run as root')
            [CompletionResult]::new('--via', '--via', [CompletionResultType]::ParameterName, 'Start afteryou on HOST over ssh, as scp does, instead of using a ticket; HOST:DIR in the ticket''s place does the same')
            [CompletionResult]::new('--ssh-command', '--ssh-command', [CompletionResultType]::ParameterName, 'The ssh program of --via, with its arguments: "ssh -p 2222"')
            [CompletionResult]::new('--far-command', '--far-command', [CompletionResultType]::ParameterName, 'Command that --via runs as afteryou on the other machine')
            [CompletionResult]::new('--ticket', '--ticket', [CompletionResultType]::ParameterName, 'The ticket, or @FILE, a file that holds it; neither AFTERYOU_TICKET nor a file shows in `ps`')
            [CompletionResult]::new('--connections', '--connections', [CompletionResultType]::ParameterName, 'Number of connections of this job; together they use no more than one would')
            [CompletionResult]::new('--give-up-after', '--give-up-after', [CompletionResultType]::ParameterName, 'Fail after this time without a connection; by default try indefinitely')
            [CompletionResult]::new('--max-rate', '--max-rate', [CompletionResultType]::ParameterName, 'Limit the rate, always or by time of day: 5Mbit/s, 512k, "08:00,512k 19:00,off"')
            [CompletionResult]::new('--controller', '--controller', [CompletionResultType]::ParameterName, 'Congestion controller for sent data, with optional parameters: NAME[,parameter=value...]')
            [CompletionResult]::new('--dscp', '--dscp', [CompletionResultType]::ParameterName, 'DSCP of the packets: le (lower effort), default, cs1, or a number from 0 to 63')
            [CompletionResult]::new('--on-success', '--on-success', [CompletionResultType]::ParameterName, 'Run this command in a shell when the job has ended with exit code 0')
            [CompletionResult]::new('--on-failure', '--on-failure', [CompletionResultType]::ParameterName, 'Run this command in a shell when the job has ended with another exit code, which AFTERYOU_EXIT_CODE holds')
            [CompletionResult]::new('--qlog', '--qlog', [CompletionResultType]::ParameterName, 'Log each connection into a file in this directory (qlog, for qvis), as its sender sees it')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'Directory of this machine''s key; usually ~/.local/state/afteryou')
            [CompletionResult]::new('--control-dir', '--control-dir', [CompletionResultType]::ParameterName, 'Directory in which `afteryou ctl` finds running jobs; usually afteryou in $XDG_RUNTIME_DIR')
            [CompletionResult]::new('--route-mtu', '--route-mtu', [CompletionResultType]::ParameterName, 'Longest IP packet of the route, bytes, instead of what the system knows: an emulated path is no loopback')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Change nothing; print the files that would be stored, replaced and deleted')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Change nothing; print the files that would be stored, replaced and deleted')
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'Skip files that are newer at the receiver')
            [CompletionResult]::new('--update', '--update', [CompletionResultType]::ParameterName, 'Skip files that are newer at the receiver')
            [CompletionResult]::new('--quick', '--quick', [CompletionResultType]::ParameterName, 'Treat files with the same size and modification time as unchanged, without reading them')
            [CompletionResult]::new('--verify', '--verify', [CompletionResultType]::ParameterName, 'Read every file at the source, instead of using hashes cached by earlier runs')
            [CompletionResult]::new('--delete', '--delete', [CompletionResultType]::ParameterName, 'Afterwards delete files on the receiver that the source no longer has, in the sent directories')
            [CompletionResult]::new('--delete-all', '--delete-all', [CompletionResultType]::ParameterName, 'Like --delete, even if a directory of the source is empty')
            [CompletionResult]::new('--xattrs', '--xattrs', [CompletionResultType]::ParameterName, 'Keep extended attributes whose names begin with `user.`')
            [CompletionResult]::new('--acls', '--acls', [CompletionResultType]::ParameterName, 'Keep POSIX access lists; users and groups in them are numbers')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print one JSON object per line for each event, on stdout')
            [CompletionResult]::new('--list', '--list', [CompletionResultType]::ParameterName, 'Print the name of each file when it is done, and its result')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Fail (exit code 1 instead of 3) if anything was left out or differs from the source')
            [CompletionResult]::new('--stats', '--stats', [CompletionResultType]::ParameterName, 'Print at the end the number of entries and bytes by result')
            [CompletionResult]::new('--notify', '--notify', [CompletionResultType]::ParameterName, 'Show a desktop notification when the job has ended, with `notify-send` or macOS'' `osascript`')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing but errors')
            [CompletionResult]::new('--json-groups', '--json-groups', [CompletionResultType]::ParameterName, 'An event for each chunk group that comes off the wire')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'afteryou;receive' {
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'UDP address and port to listen on; port 0 reuses the previous port if it is free')
            [CompletionResult]::new('--address', '--address', [CompletionResultType]::ParameterName, 'Put this into the ticket, instead of this machine''s own addresses; may be repeated')
            [CompletionResult]::new('--ticket-file', '--ticket-file', [CompletionResultType]::ParameterName, 'Write the ticket into this file, which only its owner may read, instead of printing it')
            [CompletionResult]::new('--max-rate', '--max-rate', [CompletionResultType]::ParameterName, 'Limit the rate, always or by time of day: 5Mbit/s, 512k, "08:00,512k 19:00,off"')
            [CompletionResult]::new('--controller', '--controller', [CompletionResultType]::ParameterName, 'Congestion controller for sent data, with optional parameters: NAME[,parameter=value...]')
            [CompletionResult]::new('--dscp', '--dscp', [CompletionResultType]::ParameterName, 'DSCP of the packets: le (lower effort), default, cs1, or a number from 0 to 63')
            [CompletionResult]::new('--on-success', '--on-success', [CompletionResultType]::ParameterName, 'Run this command in a shell when the job has ended with exit code 0')
            [CompletionResult]::new('--on-failure', '--on-failure', [CompletionResultType]::ParameterName, 'Run this command in a shell when the job has ended with another exit code, which AFTERYOU_EXIT_CODE holds')
            [CompletionResult]::new('--qlog', '--qlog', [CompletionResultType]::ParameterName, 'Log each connection into a file in this directory (qlog, for qvis), as its sender sees it')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'Directory of this machine''s key; usually ~/.local/state/afteryou')
            [CompletionResult]::new('--control-dir', '--control-dir', [CompletionResultType]::ParameterName, 'Directory in which `afteryou ctl` finds running jobs; usually afteryou in $XDG_RUNTIME_DIR')
            [CompletionResult]::new('--route-mtu', '--route-mtu', [CompletionResultType]::ParameterName, 'Longest IP packet of the route, bytes, instead of what the system knows: an emulated path is no loopback')
            [CompletionResult]::new('--allow-delete', '--allow-delete', [CompletionResultType]::ParameterName, 'Let senders delete files below DIR that they do not have (`send --delete`), and learn their names')
            [CompletionResult]::new('--allow-links', '--allow-links', [CompletionResultType]::ParameterName, 'Let senders make links that point out of DIR (`send --symlinks copy-as-is`). Nothing is ever stored through a link')
            [CompletionResult]::new('--allow-backup', '--allow-backup', [CompletionResultType]::ParameterName, 'Let senders keep replaced files in a directory below DIR (`send --backup-dir`)')
            [CompletionResult]::new('--allow-owner', '--allow-owner', [CompletionResultType]::ParameterName, 'Let senders choose users and groups as owners (`send --owner`); it takes effect as root')
            [CompletionResult]::new('--allow-xattrs', '--allow-xattrs', [CompletionResultType]::ParameterName, 'Let senders set extended attributes whose names begin with `user.` (`send --xattrs`)')
            [CompletionResult]::new('--allow-acls', '--allow-acls', [CompletionResultType]::ParameterName, 'Let senders set access lists, which give rights to other users (`send --acls`)')
            [CompletionResult]::new('--once', '--once', [CompletionResultType]::ParameterName, 'End after the first job that is complete')
            [CompletionResult]::new('--ticket-only', '--ticket-only', [CompletionResultType]::ParameterName, 'For scripts and ssh: print only the ticket, use a temporary key, and end with standard input')
            [CompletionResult]::new('--qr', '--qr', [CompletionResultType]::ParameterName, 'Show the ticket as a QR code on stderr, too')
            [CompletionResult]::new('--new-ticket', '--new-ticket', [CompletionResultType]::ParameterName, 'Make a new secret: tickets printed so far are void')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print one JSON object per line for each event, on stdout')
            [CompletionResult]::new('--list', '--list', [CompletionResultType]::ParameterName, 'Print the name of each file when it is done, and its result')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Fail (exit code 1 instead of 3) if anything was left out or differs from the source')
            [CompletionResult]::new('--stats', '--stats', [CompletionResultType]::ParameterName, 'Print at the end the number of entries and bytes by result')
            [CompletionResult]::new('--notify', '--notify', [CompletionResultType]::ParameterName, 'Show a desktop notification when the job has ended, with `notify-send` or macOS'' `osascript`')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing but errors')
            [CompletionResult]::new('--json-groups', '--json-groups', [CompletionResultType]::ParameterName, 'An event for each chunk group that comes off the wire')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'afteryou;serve' {
            [CompletionResult]::new('--symlinks', '--symlinks', [CompletionResultType]::ParameterName, 'Choose how symbolic links are handled. `follow` never leaves DIR')
            [CompletionResult]::new('--exclude', '--exclude', [CompletionResultType]::ParameterName, 'Leave out files and directories that match, in the syntax of .gitignore; may be repeated')
            [CompletionResult]::new('--include', '--include', [CompletionResultType]::ParameterName, 'Include files again that --exclude leaves out; may be repeated. A file below an excluded directory stays excluded')
            [CompletionResult]::new('--exclude-from', '--exclude-from', [CompletionResultType]::ParameterName, 'Read patterns of --exclude from this file, one per line, before the others; !PATTERN includes again, # is a comment')
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'UDP address and port to listen on; port 0 reuses the previous port if it is free')
            [CompletionResult]::new('--address', '--address', [CompletionResultType]::ParameterName, 'Put this into the ticket, instead of this machine''s own addresses; may be repeated')
            [CompletionResult]::new('--ticket-file', '--ticket-file', [CompletionResultType]::ParameterName, 'Write the ticket into this file, which only its owner may read, instead of printing it')
            [CompletionResult]::new('--max-rate', '--max-rate', [CompletionResultType]::ParameterName, 'Limit the rate, always or by time of day: 5Mbit/s, 512k, "08:00,512k 19:00,off"')
            [CompletionResult]::new('--controller', '--controller', [CompletionResultType]::ParameterName, 'Congestion controller for sent data, with optional parameters: NAME[,parameter=value...]')
            [CompletionResult]::new('--dscp', '--dscp', [CompletionResultType]::ParameterName, 'DSCP of the packets: le (lower effort), default, cs1, or a number from 0 to 63')
            [CompletionResult]::new('--on-success', '--on-success', [CompletionResultType]::ParameterName, 'Run this command in a shell when the job has ended with exit code 0')
            [CompletionResult]::new('--on-failure', '--on-failure', [CompletionResultType]::ParameterName, 'Run this command in a shell when the job has ended with another exit code, which AFTERYOU_EXIT_CODE holds')
            [CompletionResult]::new('--qlog', '--qlog', [CompletionResultType]::ParameterName, 'Log each connection into a file in this directory (qlog, for qvis), as its sender sees it')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'Directory of this machine''s key; usually ~/.local/state/afteryou')
            [CompletionResult]::new('--control-dir', '--control-dir', [CompletionResultType]::ParameterName, 'Directory in which `afteryou ctl` finds running jobs; usually afteryou in $XDG_RUNTIME_DIR')
            [CompletionResult]::new('--route-mtu', '--route-mtu', [CompletionResultType]::ParameterName, 'Longest IP packet of the route, bytes, instead of what the system knows: an emulated path is no loopback')
            [CompletionResult]::new('--once', '--once', [CompletionResultType]::ParameterName, 'End after the first job that is complete')
            [CompletionResult]::new('--ticket-only', '--ticket-only', [CompletionResultType]::ParameterName, 'For scripts and ssh: print only the ticket, use a temporary key, and end with standard input')
            [CompletionResult]::new('--qr', '--qr', [CompletionResultType]::ParameterName, 'Show the ticket as a QR code on stderr, too')
            [CompletionResult]::new('--new-ticket', '--new-ticket', [CompletionResultType]::ParameterName, 'Make a new secret: tickets printed so far are void')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print one JSON object per line for each event, on stdout')
            [CompletionResult]::new('--list', '--list', [CompletionResultType]::ParameterName, 'Print the name of each file when it is done, and its result')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Fail (exit code 1 instead of 3) if anything was left out or differs from the source')
            [CompletionResult]::new('--stats', '--stats', [CompletionResultType]::ParameterName, 'Print at the end the number of entries and bytes by result')
            [CompletionResult]::new('--notify', '--notify', [CompletionResultType]::ParameterName, 'Show a desktop notification when the job has ended, with `notify-send` or macOS'' `osascript`')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing but errors')
            [CompletionResult]::new('--json-groups', '--json-groups', [CompletionResultType]::ParameterName, 'An event for each chunk group that comes off the wire')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'afteryou;get' {
            [CompletionResult]::new('--exclude', '--exclude', [CompletionResultType]::ParameterName, 'Leave out files and directories that match, in the syntax of .gitignore; may be repeated')
            [CompletionResult]::new('--include', '--include', [CompletionResultType]::ParameterName, 'Include files again that --exclude leaves out; may be repeated. A file below an excluded directory stays excluded')
            [CompletionResult]::new('--exclude-from', '--exclude-from', [CompletionResultType]::ParameterName, 'Read patterns of --exclude from this file, one per line, before the others; !PATTERN includes again, # is a comment')
            [CompletionResult]::new('--max-delete', '--max-delete', [CompletionResultType]::ParameterName, 'Delete nothing if --delete would delete more entries than this: a number, or a percentage of the copy (10%)')
            [CompletionResult]::new('--backup-dir', '--backup-dir', [CompletionResultType]::ParameterName, 'Keep replaced and deleted files in this directory below the receiving one')
            [CompletionResult]::new('--owner', '--owner', [CompletionResultType]::ParameterName, 'Keep owners and groups, by name or by number; the receiver must run as root')
            [CompletionResult]::new('--via', '--via', [CompletionResultType]::ParameterName, 'Start afteryou on HOST over ssh, as scp does, instead of using a ticket; HOST:DIR in the ticket''s place does the same')
            [CompletionResult]::new('--ssh-command', '--ssh-command', [CompletionResultType]::ParameterName, 'The ssh program of --via, with its arguments: "ssh -p 2222"')
            [CompletionResult]::new('--far-command', '--far-command', [CompletionResultType]::ParameterName, 'Command that --via runs as afteryou on the other machine')
            [CompletionResult]::new('--ticket', '--ticket', [CompletionResultType]::ParameterName, 'The ticket, or @FILE, a file that holds it; neither AFTERYOU_TICKET nor a file shows in `ps`')
            [CompletionResult]::new('--connections', '--connections', [CompletionResultType]::ParameterName, 'Number of connections of this job; together they use no more than one would')
            [CompletionResult]::new('--give-up-after', '--give-up-after', [CompletionResultType]::ParameterName, 'Fail after this time without a connection; by default try indefinitely')
            [CompletionResult]::new('--max-rate', '--max-rate', [CompletionResultType]::ParameterName, 'Limit the rate, always or by time of day: 5Mbit/s, 512k, "08:00,512k 19:00,off"')
            [CompletionResult]::new('--controller', '--controller', [CompletionResultType]::ParameterName, 'Congestion controller for sent data, with optional parameters: NAME[,parameter=value...]')
            [CompletionResult]::new('--dscp', '--dscp', [CompletionResultType]::ParameterName, 'DSCP of the packets: le (lower effort), default, cs1, or a number from 0 to 63')
            [CompletionResult]::new('--on-success', '--on-success', [CompletionResultType]::ParameterName, 'Run this command in a shell when the job has ended with exit code 0')
            [CompletionResult]::new('--on-failure', '--on-failure', [CompletionResultType]::ParameterName, 'Run this command in a shell when the job has ended with another exit code, which AFTERYOU_EXIT_CODE holds')
            [CompletionResult]::new('--qlog', '--qlog', [CompletionResultType]::ParameterName, 'Log each connection into a file in this directory (qlog, for qvis), as its sender sees it')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'Directory of this machine''s key; usually ~/.local/state/afteryou')
            [CompletionResult]::new('--control-dir', '--control-dir', [CompletionResultType]::ParameterName, 'Directory in which `afteryou ctl` finds running jobs; usually afteryou in $XDG_RUNTIME_DIR')
            [CompletionResult]::new('--route-mtu', '--route-mtu', [CompletionResultType]::ParameterName, 'Longest IP packet of the route, bytes, instead of what the system knows: an emulated path is no loopback')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Change nothing; print the files that would be stored, replaced and deleted')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Change nothing; print the files that would be stored, replaced and deleted')
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'Skip files that are newer at the receiver')
            [CompletionResult]::new('--update', '--update', [CompletionResultType]::ParameterName, 'Skip files that are newer at the receiver')
            [CompletionResult]::new('--quick', '--quick', [CompletionResultType]::ParameterName, 'Treat files with the same size and modification time as unchanged, without reading them')
            [CompletionResult]::new('--verify', '--verify', [CompletionResultType]::ParameterName, 'Read every file at the source, instead of using hashes cached by earlier runs')
            [CompletionResult]::new('--delete', '--delete', [CompletionResultType]::ParameterName, 'Afterwards delete files on the receiver that the source no longer has, in the sent directories')
            [CompletionResult]::new('--delete-all', '--delete-all', [CompletionResultType]::ParameterName, 'Like --delete, even if a directory of the source is empty')
            [CompletionResult]::new('--xattrs', '--xattrs', [CompletionResultType]::ParameterName, 'Keep extended attributes whose names begin with `user.`')
            [CompletionResult]::new('--acls', '--acls', [CompletionResultType]::ParameterName, 'Keep POSIX access lists; users and groups in them are numbers')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print one JSON object per line for each event, on stdout')
            [CompletionResult]::new('--list', '--list', [CompletionResultType]::ParameterName, 'Print the name of each file when it is done, and its result')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Fail (exit code 1 instead of 3) if anything was left out or differs from the source')
            [CompletionResult]::new('--stats', '--stats', [CompletionResultType]::ParameterName, 'Print at the end the number of entries and bytes by result')
            [CompletionResult]::new('--notify', '--notify', [CompletionResultType]::ParameterName, 'Show a desktop notification when the job has ended, with `notify-send` or macOS'' `osascript`')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing but errors')
            [CompletionResult]::new('--json-groups', '--json-groups', [CompletionResultType]::ParameterName, 'An event for each chunk group that comes off the wire')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'afteryou;ctl' {
            [CompletionResult]::new('--job', '--job', [CompletionResultType]::ParameterName, 'Process ID of the job; not needed if only one runs')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info')
            [CompletionResult]::new('--control-dir', '--control-dir', [CompletionResultType]::ParameterName, 'Directory of running jobs; usually afteryou in $XDG_RUNTIME_DIR')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print one JSON object per line for each job')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('status', 'status', [CompletionResultType]::ParameterValue, 'Show the status of running jobs')
            [CompletionResult]::new('pause', 'pause', [CompletionResultType]::ParameterValue, 'Pause the transfer; the connection stays open')
            [CompletionResult]::new('resume', 'resume', [CompletionResultType]::ParameterValue, 'Continue after a pause')
            [CompletionResult]::new('rate', 'rate', [CompletionResultType]::ParameterValue, 'Limit the rate, in place of earlier limits')
            [CompletionResult]::new('off', 'off', [CompletionResultType]::ParameterValue, 'Lift all limits and pauses set here; a timetable takes effect again at its next change')
            [CompletionResult]::new('stop', 'stop', [CompletionResultType]::ParameterValue, 'End the job; stored data stay, and the same command continues from there')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'afteryou;ctl;status' {
            [CompletionResult]::new('--job', '--job', [CompletionResultType]::ParameterName, 'Process ID of the job; not needed if only one runs')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info')
            [CompletionResult]::new('--control-dir', '--control-dir', [CompletionResultType]::ParameterName, 'Directory of running jobs; usually afteryou in $XDG_RUNTIME_DIR')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print one JSON object per line for each job')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'afteryou;ctl;pause' {
            [CompletionResult]::new('--job', '--job', [CompletionResultType]::ParameterName, 'Process ID of the job; not needed if only one runs')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info')
            [CompletionResult]::new('--control-dir', '--control-dir', [CompletionResultType]::ParameterName, 'Directory of running jobs; usually afteryou in $XDG_RUNTIME_DIR')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print one JSON object per line for each job')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'afteryou;ctl;resume' {
            [CompletionResult]::new('--job', '--job', [CompletionResultType]::ParameterName, 'Process ID of the job; not needed if only one runs')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info')
            [CompletionResult]::new('--control-dir', '--control-dir', [CompletionResultType]::ParameterName, 'Directory of running jobs; usually afteryou in $XDG_RUNTIME_DIR')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print one JSON object per line for each job')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'afteryou;ctl;rate' {
            [CompletionResult]::new('--job', '--job', [CompletionResultType]::ParameterName, 'Process ID of the job; not needed if only one runs')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info')
            [CompletionResult]::new('--control-dir', '--control-dir', [CompletionResultType]::ParameterName, 'Directory of running jobs; usually afteryou in $XDG_RUNTIME_DIR')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print one JSON object per line for each job')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'afteryou;ctl;off' {
            [CompletionResult]::new('--job', '--job', [CompletionResultType]::ParameterName, 'Process ID of the job; not needed if only one runs')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info')
            [CompletionResult]::new('--control-dir', '--control-dir', [CompletionResultType]::ParameterName, 'Directory of running jobs; usually afteryou in $XDG_RUNTIME_DIR')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print one JSON object per line for each job')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'afteryou;ctl;stop' {
            [CompletionResult]::new('--job', '--job', [CompletionResultType]::ParameterName, 'Process ID of the job; not needed if only one runs')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info')
            [CompletionResult]::new('--control-dir', '--control-dir', [CompletionResultType]::ParameterName, 'Directory of running jobs; usually afteryou in $XDG_RUNTIME_DIR')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print one JSON object per line for each job')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'afteryou;ctl;help' {
            [CompletionResult]::new('status', 'status', [CompletionResultType]::ParameterValue, 'Show the status of running jobs')
            [CompletionResult]::new('pause', 'pause', [CompletionResultType]::ParameterValue, 'Pause the transfer; the connection stays open')
            [CompletionResult]::new('resume', 'resume', [CompletionResultType]::ParameterValue, 'Continue after a pause')
            [CompletionResult]::new('rate', 'rate', [CompletionResultType]::ParameterValue, 'Limit the rate, in place of earlier limits')
            [CompletionResult]::new('off', 'off', [CompletionResultType]::ParameterValue, 'Lift all limits and pauses set here; a timetable takes effect again at its next change')
            [CompletionResult]::new('stop', 'stop', [CompletionResultType]::ParameterValue, 'End the job; stored data stay, and the same command continues from there')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'afteryou;ctl;help;status' {
            break
        }
        'afteryou;ctl;help;pause' {
            break
        }
        'afteryou;ctl;help;resume' {
            break
        }
        'afteryou;ctl;help;rate' {
            break
        }
        'afteryou;ctl;help;off' {
            break
        }
        'afteryou;ctl;help;stop' {
            break
        }
        'afteryou;ctl;help;help' {
            break
        }
        'afteryou;demo' {
            [CompletionResult]::new('--controller', '--controller', [CompletionResultType]::ParameterName, 'The transfer''s congestion controller, with optional parameters: NAME[,parameter=value...]')
            [CompletionResult]::new('--seconds', '--seconds', [CompletionResultType]::ParameterName, 'Duration in seconds; at least 24')
            [CompletionResult]::new('--rate', '--rate', [CompletionResultType]::ParameterName, 'Rate of the bottleneck')
            [CompletionResult]::new('--rtt', '--rtt', [CompletionResultType]::ParameterName, 'Base round-trip time: 40ms, 0.25s')
            [CompletionResult]::new('--buffer', '--buffer', [CompletionResultType]::ParameterName, 'Size of the bottleneck''s queue, in time, packets or bytes: 500ms, 100packets, 64KiB')
            [CompletionResult]::new('--queue', '--queue', [CompletionResultType]::ParameterName, 'The bottleneck''s queue discipline, with optional parameters: NAME[,parameter=value...]')
            [CompletionResult]::new('--loss', '--loss', [CompletionResultType]::ParameterName, 'Packets lost at random, in each direction: 0.1%')
            [CompletionResult]::new('--file', '--file', [CompletionResultType]::ParameterName, 'Send this file instead of generated data')
            [CompletionResult]::new('--out', '--out', [CompletionResultType]::ParameterName, 'Folder for the report')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Seed of every random choice')
            [CompletionResult]::new('--real', '--real', [CompletionResultType]::ParameterName, 'Let the upload be the kernel''s own TCP, in network namespaces; on Linux, as root')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write the result to stdout as JSON; progress goes to stderr either way')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print every table, not only the verdict')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print every table, not only the verdict')
            [CompletionResult]::new('--check', '--check', [CompletionResultType]::ParameterName, 'Exit with 1 if the verdict is bad')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'afteryou;sim' {
            [CompletionResult]::new('--trace', '--trace', [CompletionResultType]::ParameterName, 'Write every packet at every link into this file (pcapng, for Wireshark); the file must describe one run')
            [CompletionResult]::new('--qlog', '--qlog', [CompletionResultType]::ParameterName, 'Write every sender into a file in this folder (qlog, for qvis); the file must describe one run')
            [CompletionResult]::new('--out', '--out', [CompletionResultType]::ParameterName, 'Write reports, results and curves into this folder')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Seed of every random choice, instead of the file''s')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'Run each combination this many times, with seeds N, N+1, …')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Runs at the same time; the number of cores by default')
            [CompletionResult]::new('--shard', '--shard', [CompletionResultType]::ParameterName, 'Run part I of N of a sweep: every N-th run, from the I-th; join the folders with afteryou merge')
            [CompletionResult]::new('--set', '--set', [CompletionResultType]::ParameterName, 'Replace a setting of the file, such as link.rate="5 Mbit/s" or flow.backup.rtt="10 ms"')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print the result of each run as JSON, one per line, on stdout')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print every table, not only the headline')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print every table, not only the headline')
            [CompletionResult]::new('--no-series', '--no-series', [CompletionResultType]::ParameterName, 'Write only tables into --out, without curves and without a folder for each run of a sweep')
            [CompletionResult]::new('--parquet', '--parquet', [CompletionResultType]::ParameterName, 'Write tables and curves as Parquet, too')
            [CompletionResult]::new('--untrusted', '--untrusted', [CompletionResultType]::ParameterName, 'For scenarios that others wrote: open files only below the scenario''s folder, links resolved, and start no program')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'afteryou;fluid' {
            [CompletionResult]::new('--trace', '--trace', [CompletionResultType]::ParameterName, 'Write every packet at every link into this file (pcapng, for Wireshark); the file must describe one run')
            [CompletionResult]::new('--qlog', '--qlog', [CompletionResultType]::ParameterName, 'Write every sender into a file in this folder (qlog, for qvis); the file must describe one run')
            [CompletionResult]::new('--out', '--out', [CompletionResultType]::ParameterName, 'Write reports, results and curves into this folder')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Seed of every random choice, instead of the file''s')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'Run each combination this many times, with seeds N, N+1, …')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Runs at the same time; the number of cores by default')
            [CompletionResult]::new('--shard', '--shard', [CompletionResultType]::ParameterName, 'Run part I of N of a sweep: every N-th run, from the I-th; join the folders with afteryou merge')
            [CompletionResult]::new('--set', '--set', [CompletionResultType]::ParameterName, 'Replace a setting of the file, such as link.rate="5 Mbit/s" or flow.backup.rtt="10 ms"')
            [CompletionResult]::new('--explain', '--explain', [CompletionResultType]::ParameterName, 'Print the equilibrium, time constants and stability of the scenario, and the expected shares, without running it')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print the result of each run as JSON, one per line, on stdout')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print every table, not only the headline')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print every table, not only the headline')
            [CompletionResult]::new('--no-series', '--no-series', [CompletionResultType]::ParameterName, 'Write only tables into --out, without curves and without a folder for each run of a sweep')
            [CompletionResult]::new('--parquet', '--parquet', [CompletionResultType]::ParameterName, 'Write tables and curves as Parquet, too')
            [CompletionResult]::new('--untrusted', '--untrusted', [CompletionResultType]::ParameterName, 'For scenarios that others wrote: open files only below the scenario''s folder, links resolved, and start no program')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'afteryou;bed' {
            [CompletionResult]::new('--trace', '--trace', [CompletionResultType]::ParameterName, 'Write every packet at every link into this file (pcapng, for Wireshark); the file must describe one run')
            [CompletionResult]::new('--qlog', '--qlog', [CompletionResultType]::ParameterName, 'Write every sender into a file in this folder (qlog, for qvis); the file must describe one run')
            [CompletionResult]::new('--out', '--out', [CompletionResultType]::ParameterName, 'Write reports, results and curves into this folder')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Seed of every random choice, instead of the file''s')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'Run each combination this many times, with seeds N, N+1, …')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Runs at the same time; the number of cores by default')
            [CompletionResult]::new('--shard', '--shard', [CompletionResultType]::ParameterName, 'Run part I of N of a sweep: every N-th run, from the I-th; join the folders with afteryou merge')
            [CompletionResult]::new('--set', '--set', [CompletionResultType]::ParameterName, 'Replace a setting of the file, such as link.rate="5 Mbit/s" or flow.backup.rtt="10 ms"')
            [CompletionResult]::new('--queue-by', '--queue-by', [CompletionResultType]::ParameterName, 'Choose the queues at links that data cross: those of afteryou, as in the simulator, or the kernel''s own queue disciplines below htb')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print the result of each run as JSON, one per line, on stdout')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print every table, not only the headline')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print every table, not only the headline')
            [CompletionResult]::new('--no-series', '--no-series', [CompletionResultType]::ParameterName, 'Write only tables into --out, without curves and without a folder for each run of a sweep')
            [CompletionResult]::new('--parquet', '--parquet', [CompletionResultType]::ParameterName, 'Write tables and curves as Parquet, too')
            [CompletionResult]::new('--untrusted', '--untrusted', [CompletionResultType]::ParameterName, 'For scenarios that others wrote: open files only below the scenario''s folder, links resolved, and start no program')
            [CompletionResult]::new('--clean', '--clean', [CompletionResultType]::ParameterName, 'End the programs that killed runs have left behind, as every run does before it begins; takes no file')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'afteryou;merge' {
            [CompletionResult]::new('--out', '--out', [CompletionResultType]::ParameterName, 'Write the whole sweep into this folder')
            [CompletionResult]::new('--parquet', '--parquet', [CompletionResultType]::ParameterName, 'Write tables as Parquet, too')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print every table, not the first rows alone')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print every table, not the first rows alone')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'afteryou;sweep' {
            [CompletionResult]::new('--dask', '--dask', [CompletionResultType]::ParameterName, 'Address of the cluster''s Dask scheduler')
            [CompletionResult]::new('--out', '--out', [CompletionResultType]::ParameterName, 'Keep results in this folder, where an interrupted sweep resumes')
            [CompletionResult]::new('--engine', '--engine', [CompletionResultType]::ParameterName, 'The engine: sim or fluid')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Seed of the first repetition, instead of the file''s')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'Repetitions of each combination, instead of the file''s')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'afteryou;plot' {
            [CompletionResult]::new('--x', '--x', [CompletionResultType]::ParameterName, 'Column on the horizontal axis; the time if the rows are curves')
            [CompletionResult]::new('--y', '--y', [CompletionResultType]::ParameterName, 'Column that was measured, or a quantity of a run such as goodput, queuing_delay, fairness or completion')
            [CompletionResult]::new('--by', '--by', [CompletionResultType]::ParameterName, 'A curve or a bar for each value of this column; in a map, the vertical axis. May be repeated')
            [CompletionResult]::new('--kind', '--kind', [CompletionResultType]::ParameterName, 'line, bar, cdf or heat; by default the one that suits the columns')
            [CompletionResult]::new('--only', '--only', [CompletionResultType]::ParameterName, 'Only rows in which a column has a value, such as window=measured. May be repeated')
            [CompletionResult]::new('--title', '--title', [CompletionResultType]::ParameterName, 'Title, instead of the columns'' names')
            [CompletionResult]::new('--out', '--out', [CompletionResultType]::ParameterName, 'File to write; .png for a picture, .svg for a drawing')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'afteryou;report' {
            [CompletionResult]::new('--png', '--png', [CompletionResultType]::ParameterName, 'Write each figure as figure.png, too')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'afteryou;compare' {
            [CompletionResult]::new('--figure', '--figure', [CompletionResultType]::ParameterName, 'Compare only this figure, such as goodput_bit_s. May be given several times; all figures by default')
            [CompletionResult]::new('--out', '--out', [CompletionResultType]::ParameterName, 'Write a page with the figures and the curves of all')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'afteryou;study' {
            [CompletionResult]::new('--engine', '--engine', [CompletionResultType]::ParameterName, 'The engine. `bed` prints first how long it will take')
            [CompletionResult]::new('--out', '--out', [CompletionResultType]::ParameterName, 'Write a book into this folder: a summary, a page for each paper with its figures, the scenario files')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Runs at the same time; the number of cores by default')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Keep the readings of runs in this folder, where an interrupted study resumes; the user''s cache by default')
            [CompletionResult]::new('--list', '--list', [CompletionResultType]::ParameterName, 'Print the entries instead of running them')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'With --engine bed: print how many days all experiments would take on real packets')
            [CompletionResult]::new('--check', '--check', [CompletionResultType]::ParameterName, 'Exit with 1 on any unexplained miss, and on any explanation that is no longer valid')
            [CompletionResult]::new('--quick', '--quick', [CompletionResultType]::ParameterName, 'Use thinner grids and fewer seeds, but never shorter runs')
            [CompletionResult]::new('--full-repeats', '--full-repeats', [CompletionResultType]::ParameterName, 'Run every seed of the papers'' protocols, where the usual run has fewer')
            [CompletionResult]::new('--second-seeds', '--second-seeds', [CompletionResultType]::ParameterName, 'Use the same number of other seeds, to find verdicts that depend on the seeds')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print the findings of each entry as JSON, one entry per line')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'afteryou;lab' {
            [CompletionResult]::new('--out', '--out', [CompletionResultType]::ParameterName, 'Write the page into this file and do not open it')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'afteryou;list' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print a JSON array, described below')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'afteryou;doctor' {
            [CompletionResult]::new('--ticket', '--ticket', [CompletionResultType]::ParameterName, 'The same; neither AFTERYOU_TICKET nor a file shows in `ps`')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print a JSON array, described below')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'afteryou;completions' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'afteryou;man' {
            [CompletionResult]::new('--out', '--out', [CompletionResultType]::ParameterName, 'Write all pages into this directory instead')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'afteryou;help' {
            [CompletionResult]::new('send', 'send', [CompletionResultType]::ParameterValue, 'Send files and directories to a waiting `afteryou receive`')
            [CompletionResult]::new('receive', 'receive', [CompletionResultType]::ParameterValue, 'Wait for files; prints the ticket for `afteryou send`')
            [CompletionResult]::new('serve', 'serve', [CompletionResultType]::ParameterValue, 'Serve files; prints the ticket for `afteryou get`')
            [CompletionResult]::new('get', 'get', [CompletionResultType]::ParameterValue, 'Get files and directories from a running `afteryou serve`')
            [CompletionResult]::new('ctl', 'ctl', [CompletionResultType]::ParameterValue, 'Show running jobs, limit their rate, pause and end them')
            [CompletionResult]::new('demo', 'demo', [CompletionResultType]::ParameterValue, 'Watch a background transfer yield to an upload, with real packets on this machine')
            [CompletionResult]::new('sim', 'sim', [CompletionResultType]::ParameterValue, 'Run scenario files in the simulator: hours of network in seconds')
            [CompletionResult]::new('fluid', 'fluid', [CompletionResultType]::ParameterValue, 'Solve scenario files as differential equations, in milliseconds')
            [CompletionResult]::new('bed', 'bed', [CompletionResultType]::ParameterValue, 'Run scenario files with real packets, over sockets of this machine and an emulated link')
            [CompletionResult]::new('merge', 'merge', [CompletionResultType]::ParameterValue, 'Join parts of a sweep that other processes or machines ran')
            [CompletionResult]::new('sweep', 'sweep', [CompletionResultType]::ParameterValue, 'Run a sweep on a Dask cluster, with the Python package')
            [CompletionResult]::new('plot', 'plot', [CompletionResultType]::ParameterValue, 'Draw a figure from saved results: curves, bars, distributions, maps')
            [CompletionResult]::new('report', 'report', [CompletionResultType]::ParameterValue, 'Draw the pages of a saved result or sweep again')
            [CompletionResult]::new('compare', 'compare', [CompletionResultType]::ParameterValue, 'Print results side by side, with the differences')
            [CompletionResult]::new('study', 'study', [CompletionResultType]::ParameterValue, 'Repeat the experiments of five papers and compare them with the published numbers')
            [CompletionResult]::new('lab', 'lab', [CompletionResultType]::ParameterValue, 'Open the lab page: the simulator in a browser, with sliders')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List controllers, queues or transports with every parameter')
            [CompletionResult]::new('doctor', 'doctor', [CompletionResultType]::ParameterValue, 'Check this machine and the path to a peer, and suggest remedies')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print or install completions for a shell')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Write the manual pages')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'afteryou;help;send' {
            break
        }
        'afteryou;help;receive' {
            break
        }
        'afteryou;help;serve' {
            break
        }
        'afteryou;help;get' {
            break
        }
        'afteryou;help;ctl' {
            [CompletionResult]::new('status', 'status', [CompletionResultType]::ParameterValue, 'Show the status of running jobs')
            [CompletionResult]::new('pause', 'pause', [CompletionResultType]::ParameterValue, 'Pause the transfer; the connection stays open')
            [CompletionResult]::new('resume', 'resume', [CompletionResultType]::ParameterValue, 'Continue after a pause')
            [CompletionResult]::new('rate', 'rate', [CompletionResultType]::ParameterValue, 'Limit the rate, in place of earlier limits')
            [CompletionResult]::new('off', 'off', [CompletionResultType]::ParameterValue, 'Lift all limits and pauses set here; a timetable takes effect again at its next change')
            [CompletionResult]::new('stop', 'stop', [CompletionResultType]::ParameterValue, 'End the job; stored data stay, and the same command continues from there')
            break
        }
        'afteryou;help;ctl;status' {
            break
        }
        'afteryou;help;ctl;pause' {
            break
        }
        'afteryou;help;ctl;resume' {
            break
        }
        'afteryou;help;ctl;rate' {
            break
        }
        'afteryou;help;ctl;off' {
            break
        }
        'afteryou;help;ctl;stop' {
            break
        }
        'afteryou;help;demo' {
            break
        }
        'afteryou;help;sim' {
            break
        }
        'afteryou;help;fluid' {
            break
        }
        'afteryou;help;bed' {
            break
        }
        'afteryou;help;merge' {
            break
        }
        'afteryou;help;sweep' {
            break
        }
        'afteryou;help;plot' {
            break
        }
        'afteryou;help;report' {
            break
        }
        'afteryou;help;compare' {
            break
        }
        'afteryou;help;study' {
            break
        }
        'afteryou;help;lab' {
            break
        }
        'afteryou;help;list' {
            break
        }
        'afteryou;help;doctor' {
            break
        }
        'afteryou;help;completions' {
            break
        }
        'afteryou;help;man' {
            break
        }
        'afteryou;help;help' {
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
