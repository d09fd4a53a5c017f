#ifndef CLINUX_H
#define CLINUX_H
/* What Glibc's module does not show to Swift. Everything is declared here or
   in CLinux.c; no logic. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <linux/rtnetlink.h>
#include <spawn.h>
#include <sys/pidfd.h>

/* pipe2(2) with O_CLOEXEC; Glibc's module leaves pipe2 out. */
int linux_pipe_cloexec(int ends[2]);
#endif
