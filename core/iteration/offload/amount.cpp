// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/offload/amount.h"

namespace trainyard {

namespace {

struct Sums { // of the modules before each, and of all
    std::vector<double> bytes { 0 }, forward { 0 };
    explicit Sums(const std::vector<AmountModule> &modules)
    {
        for (const AmountModule &module : modules) {
            bytes.push_back(bytes.back() + module.bytes);
            forward.push_back(forward.back() + module.forward);
        }
    }
};

} // namespace

std::size_t firstModuleKept(const std::vector<AmountModule> &modules, const AmountRates &rates)
{
    if (!(rates.write > 0) || !(rates.read > 0))
        return 0;
    const Sums sums(modules);
    const double r = rates.backwardRatio, all = sums.forward.back(), period = (1 + r) * all;
    const auto stays = [&](std::size_t from, std::size_t to) {
        const double before = sums.bytes[from], own = sums.bytes[to] - before;
        if (own <= 0)
            return false;
        if (rates.isPipelined)
            return before + own > period * rates.write
                || before + own > (period - rates.inFlightShare * all) * rates.read;
        return before + 2 * own > rates.write * (period - r * sums.forward[from])
            || before + own > rates.read * r * all;
    };
    for (std::size_t n = 0, layer = 0; n < modules.size(); ++n) {
        if (n == 0 || modules[n].layer < 0 || modules[n].layer != modules[n - 1].layer)
            layer = n;
        if (stays(n, n + 1))
            return n;
        const bool endsLayer =
            modules[n].layer >= 0 && (n + 1 == modules.size() || modules[n + 1].layer != modules[n].layer);
        if (endsLayer && layer < n && stays(layer, n + 1))
            return layer;
    }
    return modules.size();
}

std::size_t firstModuleKept(const std::vector<AmountModule> &modules, double fraction)
{
    const double limit = Sums(modules).bytes.back() * fraction * (1 + 1e-12);
    double sum = 0;
    for (std::size_t n = 0; n < modules.size(); ++n)
        if ((sum += modules[n].bytes) > limit)
            return n;
    return modules.size();
}

} // namespace trainyard
