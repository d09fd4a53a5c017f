# Completion of xmppbotctl(1) for fish; a test compares it with the program.

# Whether the verb that was typed so far is $argv[1]; '' for none.
function __xmppbotctl_at
    set -l verb
    set -l takes_value 0
    for word in (commandline -opc)[2..]
        if test $takes_value = 1
            set takes_value 0
            continue
        end
        switch $word
            case --config --socket --file --timeout --for --from --with --room --affiliation --role --since --until --limit --format --before
                set takes_value 1
            case '-*' help
            case '*'
                if test -z "$verb"
                    set verb $word
                else if test "$verb" = archive
                    set verb "archive $word"
                end
        end
    end
    test "$verb" = "$argv[1]"
end

# The bot's commands, if the daemon answers.
function __xmppbotctl_commands
    set -l daemon
    set -l words (commandline -opc)
    for index in (seq 2 (count $words))
        switch $words[$index]
            case --config --socket
                set -a daemon $words[$index] $words[(math $index + 1)]
            case '--config=*' '--socket=*'
                set -a daemon $words[$index]
        end
    end
    xmppbotctl $daemon commands --json 2>/dev/null | string match -rg '"name":"([^"\\\\]*)"'
end

complete -c xmppbotctl -f
complete -c xmppbotctl -l config -r -F -d 'The configuration of the daemon'
complete -c xmppbotctl -l socket -r -F -d 'The control socket of the daemon'
complete -c xmppbotctl -l json -d 'Output for programs'
complete -c xmppbotctl -s h -l help -d 'Print a summary'
complete -c xmppbotctl -l version -d 'Print the version'

complete -c xmppbotctl -n '__xmppbotctl_at ""' -a check -d 'Try the configuration, step by step'
complete -c xmppbotctl -n '__xmppbotctl_at ""' -a register -d 'Create the account on its server'
complete -c xmppbotctl -n '__xmppbotctl_at ""' -a status -d 'What the daemon is doing'
complete -c xmppbotctl -n '__xmppbotctl_at ""' -a send -d 'Send one message'
complete -c xmppbotctl -n '__xmppbotctl_at ""' -a roster -d 'The contacts of the bot'
complete -c xmppbotctl -n '__xmppbotctl_at ""' -a rooms -d 'The rooms that the bot is in, or is to be in'
complete -c xmppbotctl -n '__xmppbotctl_at ""' -a commands -d 'The commands, and who may use them'
complete -c xmppbotctl -n '__xmppbotctl_at ""' -a run -d 'Try a command out as a contact would'
complete -c xmppbotctl -n '__xmppbotctl_at ""' -a archive -d 'Search, export, check and keep the archive'
complete -c xmppbotctl -n '__xmppbotctl_at ""' -a metrics -d 'What is measured, as OpenMetrics text'
complete -c xmppbotctl -n '__xmppbotctl_at ""' -a reload -d 'Read the configuration again'
complete -c xmppbotctl -n '__xmppbotctl_at ""' -a log-level -d 'Change what is logged'
complete -c xmppbotctl -n '__xmppbotctl_at ""' -a forget-mechanism -d 'Let the next login be weaker'

complete -c xmppbotctl -n '__xmppbotctl_at archive' -a search -d 'Messages that hold all the words'
complete -c xmppbotctl -n '__xmppbotctl_at archive' -a export -d 'All messages'
complete -c xmppbotctl -n '__xmppbotctl_at archive' -a stats -d 'How many messages, how large'
complete -c xmppbotctl -n '__xmppbotctl_at archive' -a check -d 'Whether the archive is whole'
complete -c xmppbotctl -n '__xmppbotctl_at archive' -a backup -d 'Write a copy'
complete -c xmppbotctl -n '__xmppbotctl_at archive' -a prune -d 'Delete old messages'
complete -c xmppbotctl -n '__xmppbotctl_at archive' -a recover -d 'What can be read of a damaged archive'

complete -c xmppbotctl -n '__xmppbotctl_at check' -l offline -d 'Only what needs no network'

complete -c xmppbotctl -n '__xmppbotctl_at send' -l file -r -F -d 'Upload the file and send the link'
complete -c xmppbotctl -n '__xmppbotctl_at send' -l lines -d 'Each line of the input is a message'
complete -c xmppbotctl -n '__xmppbotctl_at send' -l queue -d 'Do not wait for the server'
complete -c xmppbotctl -n '__xmppbotctl_at send' -l timeout -x -d 'How long to wait for the server'

complete -c xmppbotctl -n '__xmppbotctl_at commands' -l for -x -d 'What this contact may use'
complete -c xmppbotctl -n '__xmppbotctl_at commands' -l room -x -d 'As if in this room'
complete -c xmppbotctl -n '__xmppbotctl_at commands' -l affiliation -x -a 'owner admin member none' -d 'What they are in the room'
complete -c xmppbotctl -n '__xmppbotctl_at commands' -l role -x -a 'moderator participant visitor' -d 'What they are there now'

complete -c xmppbotctl -n '__xmppbotctl_at run' -a '(__xmppbotctl_commands)' -d Command
complete -c xmppbotctl -n '__xmppbotctl_at run' -l from -x -d 'Who is to have sent it'
complete -c xmppbotctl -n '__xmppbotctl_at run' -l room -x -d 'As if in this room'
complete -c xmppbotctl -n '__xmppbotctl_at run' -l affiliation -x -a 'owner admin member none' -d 'What they are in the room'
complete -c xmppbotctl -n '__xmppbotctl_at run' -l role -x -a 'moderator participant visitor' -d 'What they are there now'

complete -c xmppbotctl -n '__xmppbotctl_at log-level' -a 'error warning info debug trace'

complete -c xmppbotctl -n '__xmppbotctl_at "archive search"' -l with -x -d 'Only with this contact'
complete -c xmppbotctl -n '__xmppbotctl_at "archive search"' -l room -x -d 'Only in this room'
complete -c xmppbotctl -n '__xmppbotctl_at "archive search"' -l since -x -d 'From then on'
complete -c xmppbotctl -n '__xmppbotctl_at "archive search"' -l until -x -d 'Before then'
complete -c xmppbotctl -n '__xmppbotctl_at "archive search"' -l limit -x -d 'At most so many'

complete -c xmppbotctl -n '__xmppbotctl_at "archive export"' -l format -x -a 'jsonl csv txt' -d 'How they are written'
complete -c xmppbotctl -n '__xmppbotctl_at "archive export"' -l with -x -d 'Only with this contact'
complete -c xmppbotctl -n '__xmppbotctl_at "archive export"' -l room -x -d 'Only in this room'
complete -c xmppbotctl -n '__xmppbotctl_at "archive export"' -l since -x -d 'From then on'
complete -c xmppbotctl -n '__xmppbotctl_at "archive export"' -l until -x -d 'Before then'
complete -c xmppbotctl -n '__xmppbotctl_at "archive export"' -l limit -x -d 'At most so many'

complete -c xmppbotctl -n '__xmppbotctl_at "archive check"' -F
complete -c xmppbotctl -n '__xmppbotctl_at "archive backup"' -F
complete -c xmppbotctl -n '__xmppbotctl_at "archive backup"' -l force -d 'Replace the file'
complete -c xmppbotctl -n '__xmppbotctl_at "archive prune"' -l before -x -d 'Those older than this'
complete -c xmppbotctl -n '__xmppbotctl_at "archive recover"' -F
