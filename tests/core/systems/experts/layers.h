#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Expert layers for tests: written down leg by leg, or drawn at random.

#include "core/systems/experts/layer.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <random>

namespace layers {

using namespace trainyard;

inline Seconds us(double time)
{
    return microseconds(time);
}

inline Leg leg(Way way, double start, double moving, int after = -1, double bytesPerSecond = 50e9)
{
    return {
        .way = way, .bytes = moving * 1e-6 * bytesPerSecond, .start = us(start), .moving = us(moving), .after = after
    };
}

/// Of one leg over the NIC.
inline Exchange overNic(double moving, int pieces = 1)
{
    return { .legs = { leg(Way::Nic, 0, moving) }, .pieces = pieces };
}

/// Nothing contends, and no exchange takes multiprocessors.
inline LayerWork plain(LayerKernels kernels, Exchange dispatch, Exchange combine)
{
    return { .fullest = kernels, .dispatch = std::move(dispatch), .combine = std::move(combine), .beside = {} };
}

inline LayerWork sample()
{
    return plain({ .before = us(900),
                     .router = us(10),
                     .permute = us(40),
                     .products = us(700),
                     .unpermute = us(50),
                     .shared = us(120) },
        overNic(300), overNic(500));
}

inline Nanoseconds totalOf(const LayerWork &work)
{
    return layerChart(work).duration;
}

inline double microsecondsOf(Seconds time)
{
    return time.value * 1e6;
}

struct Drawing {
    std::mt19937 random;

    double uniform(double from, double to) { return std::uniform_real_distribution(from, to)(random); }
    int pick(int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); }
    bool maybe() { return pick(2) == 0; }
    Seconds time(double most) { return pick(6) == 0 ? Seconds {} : us(uniform(0, most)); }

    Exchange exchange()
    {
        Exchange made { .legs = {}, .pieces = maybe() ? 1 : 1 + pick(9), .piecesWait = pick(4) == 0 };
        const int legs = pick(5);
        for (int i = 0; i < legs; ++i) {
            Leg drawn = leg(static_cast<Way>(pick(kWayCount)), uniform(0, 20), uniform(1, 400),
                i > 0 && maybe() ? pick(i) : -1, uniform(5e9, 400e9));
            drawn.afterAll = drawn.after >= 0 && pick(3) == 0;
            if (drawn.way == Way::Nic && pick(3) == 0)
                drawn.nvlinkToo = drawn.bytes * uniform(0, 1);
            made.legs.push_back(drawn);
        }
        made.logicalBytes = uniform(0, 1e8);
        return made;
    }
    /// Nothing in it contends.
    LayerWork layer()
    {
        LayerWork made = plain({ .before = time(500),
                                   .router = time(20),
                                   .permute = time(60),
                                   .products = time(900),
                                   .unpermute = time(60),
                                   .shared = time(300) },
            exchange(), exchange());
        made.isBackward = maybe();
        made.meanShare = maybe() ? 1 : uniform(0.2, 1);
        made.productsInPieces = maybe();
        made.hostWait = maybe() ? us(uniform(0, 50)) : Seconds {};
        made.launchesInOrder = pick(3) == 0;
        return made;
    }
    /// In which everything may.
    LayerWork crowdedLayer()
    {
        LayerWork made = layer();
        made.isSharedBeside = maybe();
        made.memoryBandwidth = uniform(200e9, 2000e9);
        made.nicBandwidth = uniform(20e9, 100e9);
        made.nvlinkBandwidth = uniform(50e9, 400e9);
        made.wanBandwidth = uniform(1e9, 50e9);
        made.multiprocessors = 132;
        made.dispatch.sms = maybe() ? pick(40) : 0;
        made.combine.sms = maybe() ? pick(40) : 0;
        for (int i = pick(3); i > 0; --i)
            made.beside.push_back(
                leg(static_cast<Way>(pick(kWayCount)), uniform(0, 20), uniform(1, 900), -1, uniform(5e9, 100e9)));
        return made;
    }
};

} // namespace layers
