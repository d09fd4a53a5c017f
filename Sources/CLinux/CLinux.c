#include "CLinux.h"
#include <fcntl.h>
#include <unistd.h>

int linux_pipe_cloexec(int ends[2]) { return pipe2(ends, O_CLOEXEC); }
