#ifndef CEXPAT_SHIM_H
#define CEXPAT_SHIM_H
/* XML_DTD makes expat.h declare the limits against entity amplification. */
#define XML_DTD 1
#include <expat.h>
#endif
