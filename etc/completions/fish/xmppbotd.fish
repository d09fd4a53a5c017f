# Completion of xmppbotd(8) for fish; a test compares it with the program.

complete -c xmppbotd -f
complete -c xmppbotd -l config -r -F -d 'The configuration'
complete -c xmppbotd -l serve-commands -d 'Be the service in which commands run'
complete -c xmppbotd -l version -d 'Print the version'
complete -c xmppbotd -s h -l help -d 'Print a summary'
