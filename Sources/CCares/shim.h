#ifndef CCARES_SHIM_H
#define CCARES_SHIM_H
#include <ares.h>
#endif
