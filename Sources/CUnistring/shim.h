#ifndef CUNISTRING_SHIM_H
#define CUNISTRING_SHIM_H
#include <unicase.h>
#include <unictype.h>
#include <uninorm.h>
#include <unistr.h>
#include <unigbrk.h>
#endif
