#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A list schedule that lays what starts first of all devices, so that nothing that could come before it is still
// unknown. Internal to core/engine/schedule.

#include "core/engine/schedule/list_board.h"

#include <algorithm>

namespace trainyard::schedules {

/// `Order` says what a device does next: `std::int64_t arrivalOfNext(int device)`, when its input arrives, and
/// `bool layNext(int device)`, which lays it and then chooses anew; false: nothing more can be laid.
template <typename Order> class EarliestFirst {
public:
    Program make()
    {
        for (int i = 0; i < m_devices; ++i)
            choose(i);
        for (int device = m_starts.earliest(); device >= 0; device = m_starts.earliest())
            if (!static_cast<Order *>(this)->layNext(device))
                break;
        m_board.layPendingWeightGrads();
        return std::move(m_board).program();
    }

protected:
    EarliestFirst(const ScheduleShape &shape, ChunkPlacement placement, const ScheduleTimes &times)
        : m_devices(shape.devices)
        , m_board(shape, placement, times)
        , m_starts(shape.devices)
    {
    }

    void choose(int device)
    {
        const std::int64_t arrival = static_cast<Order *>(this)->arrivalOfNext(device);
        m_starts.set(device, std::max(arrival, m_board.freeAt(device)));
    }
    /// For the device and its neighbours, which may have got an input.
    void chooseAround(int device)
    {
        for (int i = std::max(0, device - 1); i <= std::min(m_devices - 1, device + 1); ++i)
            choose(i);
    }

    int m_devices;
    ListBoard m_board;

private:
    StartQueue m_starts;
};

} // namespace trainyard::schedules
