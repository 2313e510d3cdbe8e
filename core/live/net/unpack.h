#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Bodies of HTTP that came packed. Strangers send them: what a small one unpacks to is bounded twice, in bytes and in
// how many times larger it grows, and its gzip members in number. Time is linear in the bytes of both sides. Pure.

#include "core/base/error.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace trainyard::live::net {

struct UnpackLimits {
    /// unpacked
    std::size_t bytes = std::size_t(16) << 20;
    /// times the packed size; small bodies may grow to 1 MiB whatever they were
    std::size_t ratio = 200;
    /// of gzip, one behind the other; empty ones count
    std::size_t members = 1'000;
};

/// `encoding`: gzip, x-gzip, deflate (with zlib's frame or, as some servers send it, without) or identity; "" is
/// identity. Errors: BadValue: another encoding, with those that there are; OutOfRange: larger than the limits;
/// BadSyntax: damaged or cut off.
[[nodiscard]] Expected<std::string> unpack(
    std::string packed, std::string_view encoding, const UnpackLimits &limits = {});

} // namespace trainyard::live::net
