#ifndef CSYSTEMD_SHIM_H
#define CSYSTEMD_SHIM_H
/* As in CLinux, so that structures seen through both modules are the same. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <systemd/sd-id128.h>
#include <systemd/sd-journal.h>

/* Configuration and service: Swift 6 cannot name the mutable global `environ`. */
extern char **environ;
static inline char **csystemd_environment(void) { return environ; }
#endif
