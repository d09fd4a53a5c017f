#ifndef CCARES_SHIM_H
#define CCARES_SHIM_H
/* As in CLinux, so that structures seen through both modules are the same. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <ares.h>
#endif
