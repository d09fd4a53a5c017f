#include "CLinux.h"
#include <fcntl.h>
#include <unistd.h>

int linux_pipe_cloexec(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int linux_accept(int listener) {
  return accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

int linux_forbid_core_dumps(void) { return prctl(PR_SET_DUMPABLE, 0); }
