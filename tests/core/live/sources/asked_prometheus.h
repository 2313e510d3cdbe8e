#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A Prometheus source on a loop of its own, whose answers go into a store, for tests of servers real and made up.
#include "core/live/net/server.h"
#include "core/live/sources/sources.h"
#include "core/live/store.h"

#include <QString>

#include <cmath>
#include <mutex>

namespace trainyard::live {

inline constexpr int kLong = 60'000; // ms

/// Decodes at once and keeps all in a store.
class Sink final : public SourceSink {
public:
    bool bytes(std::uint64_t, std::string_view, Moment) override { return true; }
    void opened(std::uint64_t, DecoderPtr) override { }
    void closed(std::uint64_t) override { }
    bool whole(
        std::size_t, std::function<Expected<Batch>(Moment)> decode, std::function<void(const Error &)> failed) override
    {
        auto batch = decode(unixNow());
        if (batch)
            store.take(std::move(*batch));
        else
            failed(batch.error());
        return true;
    }
    void status(const SourceStatus &status) override
    {
        const std::lock_guard lock(m_mutex);
        m_status = status;
    }
    [[nodiscard]] SourceStatus now() const
    {
        const std::lock_guard lock(m_mutex);
        return m_status;
    }
    [[nodiscard]] bool is(SourceState state) const { return now().state == state; }
    [[nodiscard]] SampleSeries series(const std::string &name, const std::string &where) const
    {
        for (SampleSeries &one : store.whole().series)
            if (one.name == name && one.where == where)
                return one;
        return {};
    }
    [[nodiscard]] QString told() const
    {
        const SourceStatus status = now();
        QString text = QString::fromStdString(nameOf(status.state) + (": " + status.reason));
        for (const std::string &note : status.notes)
            text += " | " + QString::fromStdString(note);
        return text;
    }
    Store store;

private:
    mutable std::mutex m_mutex;
    SourceStatus m_status;
};

struct Live {
    Live(const Address &address, SourceSettings settings = {})
    {
        settings.intervalSeconds = 0.2;
        loop.call([&] {
            source = makePrometheus(loop, sink, address, settings);
            source->start();
        });
    }
    ~Live()
    {
        loop.call([this] { source.reset(); });
    }
    void with(const std::function<void(Source &)> &work)
    {
        loop.call([&] { work(*source); });
    }
    /// How many of its values are none.
    [[nodiscard]] int gaps() const
    {
        int count = 0;
        for (const double value : sink.series("temperature", "n0/gpu0").value)
            count += std::isnan(value);
        return count;
    }
    [[nodiscard]] std::size_t samples() const { return sink.series("temperature", "n0/gpu0").at.size(); }
    Sink sink;
    std::unique_ptr<Source> source;
    net::Loop loop; // ends first
};

} // namespace trainyard::live

#define WAIT(condition, live) QTRY_VERIFY2_WITH_TIMEOUT(condition, qPrintable((live).sink.told()), kLong)
