#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Fits TCP between a cloud's machines (core/facts/hardware/network_spec.h, TcpLinkClass) to Sailor's quadratics of
// bandwidth in log2 of the message, taken at whole powers of two over the range in which every one of them is sound.
// Used by fit-network.

#include "core/facts/hardware/network_spec.h"

#include "tools/fit_kernels/fitting.h"

namespace trainyard {

/// Adds links.tcp and residuals.TCP to the content of network.json. The NICs of the machines ("nic_gbps") stay as they
/// are; `fabric` is the RDMA fabric, which TCP on the same NIC is never better than.
void fitTcp(OrderedJson &network, const OrderedJson &table, const LinkClass &fabric, const char *source);

} // namespace trainyard
