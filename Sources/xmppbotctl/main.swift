import Control
import Glibc

exit(ControlProgram.run())
