#ifndef CSYSTEMD_SHIM_H
#define CSYSTEMD_SHIM_H
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <systemd/sd-id128.h>
#include <systemd/sd-journal.h>
#include <systemd/sd-login.h>

/* Configuration and service: Swift 6 cannot name the mutable global `environ`. */
extern char **environ;
static inline char **csystemd_environment(void) { return environ; }
#endif
