#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A body of HTTP that takes room as its bytes come. Beast's string_body reserves what a peer announces.

#include "core/live/net/loop_internal.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/optional.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

namespace trainyard::live::net {

/// As Beast asks it of a body that is read.
struct GrowingBody {
    using value_type = std::string;
    class reader {
    public:
        template <bool isRequest, class Fields>
        reader(boost::beast::http::header<isRequest, Fields> & /*head*/, std::string &body)
            : m_body(body)
        {
        }
        void init(const boost::optional<std::uint64_t> &length, ErrorCodeOfSystem &fault)
        {
            fault = {};
            m_announced = length ? static_cast<std::size_t>(*length) : m_announced;
        }
        template <class Buffers> std::size_t put(const Buffers &buffers, ErrorCodeOfSystem &fault)
        {
            fault = {};
            const std::size_t before = m_body.size(), after = before + asio::buffer_size(buffers);
            if (after > m_body.capacity()) // doubled, and no more than was announced
                m_body.reserve(std::max(after, std::min(2 * before, m_announced)));
            for (auto at = asio::buffer_sequence_begin(buffers); at != asio::buffer_sequence_end(buffers); ++at) {
                const asio::const_buffer part(*at);
                m_body.append(static_cast<const char *>(part.data()), part.size());
            }
            return after - before;
        }
        void finish(ErrorCodeOfSystem &fault) { fault = {}; }

    private:
        std::string &m_body;
        std::size_t m_announced = std::string::npos;
    };
};

} // namespace trainyard::live::net
