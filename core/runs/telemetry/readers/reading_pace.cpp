// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/reading_pace.h"

namespace trainyard::readers {

bool ReadingPace::isStopped(std::size_t byte)
{
    constexpr std::size_t kPaceBytes = std::size_t(1) << 20;
    if (byte < m_told + kPaceBytes)
        return false;
    m_told = byte;
    if (m_options.progress && !m_text.text.empty())
        m_options.progress(static_cast<double>(byte) / static_cast<double>(m_text.text.size()));
    return m_options.stop.stop_requested();
}

} // namespace trainyard::readers
