// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/hardware/link_curve.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

BytesPerSecond bandwidth(const LinkCurve &link, Bytes message)
{
    const double q = std::log2(std::clamp(message, link.least, link.most).value / 1e6);
    return gbytesPerSecond(link.c0 * q * q + link.c1 * q + link.c2);
}

} // namespace trainyard
