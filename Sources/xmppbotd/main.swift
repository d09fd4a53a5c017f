import Daemon
import Glibc

exit(XMPPBot.run())
