// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/net/body_unpacker_internal.h"

#include "core/live/net/body_order.h"

#include <boost/asio/post.hpp>

#include <cstddef>
#include <new>
#include <utility>

namespace trainyard::live::net {

BodyUnpacker::BodyUnpacker(Loop &loop)
    : m_post(loop.poster())
{
}

BodyUnpacker::~BodyUnpacker()
{
    m_alive.reset();
    m_jobs.clear();
    if (m_thread) {
        m_thread->stop();
        m_thread->join();
    }
}

void BodyUnpacker::unpack(std::string packed, std::string encoding, const UnpackLimits &limits, Done done)
{
    m_jobs.push_back({ std::move(packed), std::move(encoding), limits, std::move(done) });
    if (!m_isBusy)
        next();
}

void BodyUnpacker::next()
{
    m_isBusy = !m_jobs.empty();
    if (!m_isBusy)
        return;
    if (!m_thread)
        m_thread.emplace(1);
    const auto chosen = m_jobs.begin() + std::ptrdiff_t(takeNext(m_jobs));
    const auto job = std::make_shared<Job>(std::move(*chosen));
    m_jobs.erase(chosen);
    const auto give = [this, weak = std::weak_ptr(m_alive), job](Expected<std::string> body) {
        if (weak.expired())
            return;
        job->done(std::move(body));
        if (!weak.expired())
            next();
    };
    asio::post(*m_thread, [post = m_post, give, job] {
        std::optional<Expected<std::string>> body;
        try {
            body = net::unpack(std::move(job->packed), job->encoding, job->limits);
        } catch (const std::bad_alloc &) {
            body = std::unexpected(Error { ErrorCode::Internal, "body", "no memory to unpack it", {} });
        }
        const auto held = std::make_shared<Expected<std::string>>(std::move(*body));
        post([give, held] { give(std::move(*held)); });
    });
}

} // namespace trainyard::live::net
