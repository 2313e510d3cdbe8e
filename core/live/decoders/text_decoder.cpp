// SPDX-License-Identifier: GPL-3.0-or-later
// A file, or what a command prints: our lines of JSON, or a training log, told apart by how it begins.
#include "core/live/decoder.h"

#include <algorithm>

namespace trainyard::live {

namespace {

constexpr std::size_t kEnough = 4'096; // bytes of a first line that tell what it is

class TextDecoder final : public Decoder {
public:
    TextDecoder(std::string name, const DecoderLimits &limits)
        : m_name(std::move(name))
        , m_limits(limits)
    {
    }

    Expected<void> take(std::string_view bytes, Moment received, const BatchOut &out) override
    {
        if (m_inner)
            return m_inner->take(bytes, received, out);
        m_held += bytes;
        if (m_held.find_first_of("\r\n", start()) == m_held.npos && m_held.size() < kEnough)
            return {};
        choose();
        const std::string held = std::move(m_held);
        m_held = {};
        return m_inner->take(held, received, out);
    }

    void end(Moment received, const BatchOut &out) override
    {
        if (!m_inner) {
            choose();
            static_cast<void>(m_inner->take(m_held, received, out)); // nobody is there to be told
            m_held.clear();
        }
        m_inner->end(received, out);
    }

    void skip(std::int64_t bytes) override
    {
        if (!m_inner)
            choose(); // by what it has so far
        m_held.clear();
        m_inner->skip(bytes);
    }

private:
    [[nodiscard]] std::size_t start() const { return std::min(m_held.find_first_not_of(" \t\r\n"), m_held.size()); }

    void choose()
    {
        const std::string_view head = std::string_view(m_held).substr(start());
        const std::string_view line = head.substr(0, head.find_first_of("\r\n"));
        const bool isStream = line.starts_with('{') && line.find("\"event\"") != line.npos;
        m_inner = isStream ? makeLinesDecoder(m_name, m_limits) : makeLogDecoder(m_name, m_limits);
    }

    const std::string m_name;
    const DecoderLimits m_limits;
    std::string m_held;
    DecoderPtr m_inner;
};

} // namespace

DecoderPtr makeTextDecoder(std::string name, const DecoderLimits &limits)
{
    return std::make_unique<TextDecoder>(std::move(name), limits);
}

} // namespace trainyard::live
