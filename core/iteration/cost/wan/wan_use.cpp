// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/cost/wan/wan_use.h"

namespace trainyard {

const char *toString(WanLimit limit)
{
    switch (limit) {
    case WanLimit::None:
        return "";
    case WanLimit::NodePair:
        return "node pair";
    case WanLimit::TcpWindow:
        return "TCP window";
    case WanLimit::PacketLoss:
        return "packet loss";
    case WanLimit::NodeNics:
        return "node NICs";
    case WanLimit::LinkCapacity:
        return "link capacity";
    }
    return "";
}

} // namespace trainyard
