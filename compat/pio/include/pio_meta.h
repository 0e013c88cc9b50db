/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which version of PIO's interface this is, and what is built: files of CMake (FindPIO) read these lines.
 */
#ifndef SHOAL_PIO_META_H
#define SHOAL_PIO_META_H

#define PIO_VERSION_MAJOR 2
#define PIO_VERSION_MINOR 7
#define PIO_VERSION_PATCH 0
#define PIO_VERSION "2.7.0"

#define PIO_HAS_SZIP_WRITE 0
#define PIO_HAS_PAR_FILTERS 1
#define PIO_USE_TIMING 0
#define PIO_ENABLE_LOGGING 1
#define PIO_SHOAL 1

#endif
