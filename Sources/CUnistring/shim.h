#ifndef CUNISTRING_SHIM_H
#define CUNISTRING_SHIM_H
/* First the C library: libunistring's headers put macros on names such as int32_t, which must not reach it. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

#include <unicase.h>
#include <unictype.h>
#include <unigbrk.h>
#include <uninorm.h>
#include <unistr.h>

/* The forms are macros for addresses of incomplete structs, which Swift can't import. */
static inline uninorm_t cunistring_nfc(void) { return UNINORM_NFC; }
static inline uninorm_t cunistring_nfkc(void) { return UNINORM_NFKC; }
#endif
