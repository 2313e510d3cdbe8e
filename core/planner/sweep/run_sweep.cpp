// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/sweep/run_sweep.h"

#include "core/base/work_pool.h"
#include "core/engine/timeline/graph_cache.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>

namespace trainyard {

struct SweepWorkers::Private {
    const SweepSpec spec;
    const SweepLines lines;
    const Catalogue &catalogue;
    const std::shared_ptr<GraphCache> graphs = std::make_shared<GraphCache>();

    mutable std::mutex mutex;
    std::condition_variable_any given, done;
    std::deque<SweepRange> todo; // these: under mutex
    std::deque<SweepChunk> chunks;
    std::size_t held = 0;
    std::string failure;

    std::stop_source stop;
    std::size_t threads;
    WorkPool pool; // last: its threads use everything above

    Private(const SweepSpec &of, SweepFormat format, const Catalogue &from, std::size_t count)
        : spec(of)
        , lines(of, format)
        , catalogue(from)
        , threads(count != 0 ? count : std::max(1u, std::thread::hardware_concurrency()))
        , pool(threads, WorkPool::Manner::Equal)
    {
        for (std::size_t i = 0; i < threads; ++i)
            pool.submit(WorkPool::Rank::Search, [this] { work(); });
    }

    void work()
    {
        try {
            SweepRows rows(spec, catalogue, graphs);
            while (true) {
                std::unique_lock lock(mutex);
                if (!given.wait(lock, stop.get_token(), [this] { return !todo.empty(); }))
                    return;
                const SweepRange range = todo.front();
                todo.pop_front();
                lock.unlock();
                auto chunk = workedOut(rows, lines, range, stop.get_token());
                if (!chunk)
                    return;
                lock.lock();
                chunks.push_back(std::move(*chunk));
                done.notify_one();
            }
        } catch (const std::exception &error) {
            const std::lock_guard lock(mutex);
            failure = error.what();
            done.notify_all();
        }
    }
};

SweepWorkers::SweepWorkers(const SweepSpec &spec, SweepFormat format, const Catalogue &catalogue, std::size_t threads)
    : m_private(std::make_unique<Private>(spec, format, catalogue, threads))
{
}

SweepWorkers::~SweepWorkers()
{
    m_private->stop.request_stop();
}

std::size_t SweepWorkers::threads() const
{
    return m_private->threads;
}

void SweepWorkers::give(SweepRange range)
{
    const std::lock_guard lock(m_private->mutex);
    m_private->todo.push_back(range);
    ++m_private->held;
    m_private->given.notify_one();
}

std::size_t SweepWorkers::held() const
{
    const std::lock_guard lock(m_private->mutex);
    return m_private->held;
}

Expected<std::optional<SweepChunk>> SweepWorkers::next(double seconds)
{
    std::unique_lock lock(m_private->mutex);
    const auto isThere = [this] { return !m_private->chunks.empty() || !m_private->failure.empty(); };
    if (seconds > 0)
        m_private->done.wait_for(lock, std::chrono::duration<double>(seconds), isThere);
    if (!m_private->failure.empty())
        return std::unexpected(Error { ErrorCode::Internal, "sweep", m_private->failure, {} });
    if (m_private->chunks.empty())
        return std::optional<SweepChunk>();
    std::optional<SweepChunk> chunk = std::move(m_private->chunks.front());
    m_private->chunks.pop_front();
    --m_private->held;
    return chunk;
}

Expected<void> checkLastRow(const SweepSpec &spec, SweepFormat format, const Catalogue &catalogue,
    const SweepFile &file, const std::stop_token &stop)
{
    if (file.rowsThere() == 0)
        return {};
    const std::uint64_t last = file.rowsThere() - 1;
    const auto row = SweepRows(spec, catalogue).row(last, stop);
    if (!row)
        return {}; // stopped
    if (saysTheSame(file.lastRow(), *row, format))
        return {};
    return std::unexpected(Error { ErrorCode::CannotWrite, "--resume",
        "row " + std::to_string(last)
            + " of the file comes out otherwise here: its rows are of another build of the "
              "program, or of another machine",
        "the program that it was begun with, or another --out" });
}

Expected<SweepEnd> runSweep(const SweepSpec &spec, SweepFormat format, const Catalogue &catalogue, SweepFile &file,
    std::size_t threads, const std::stop_token &stop, const std::function<void(const SweepProgress &)> &onProgress)
{
    constexpr double kTick = 0.1; // seconds until a stop is seen
    const std::uint64_t rows = spec.rows();
    SweepEnd end { file.rowsThere(), file.rowsThere() };
    if (end.there == rows)
        return end;
    if (auto same = checkLastRow(spec, format, catalogue, file, stop); !same)
        return std::unexpected(std::move(same.error()));
    SweepWorkers workers(spec, format, catalogue, threads);
    SweepBoard board(end.there, rows, workers.threads(), [&](std::string_view lines) { return file.append(lines); });
    const auto feed = [&] {
        while (workers.held() < 2 * workers.threads()) {
            const auto range = board.deal(0);
            if (!range)
                return;
            workers.give(*range);
        }
    };
    for (feed(); !board.isComplete() && !stop.stop_requested(); feed()) {
        const auto chunk = workers.next(kTick);
        if (!chunk)
            return std::unexpected(chunk.error());
        if (*chunk) {
            if (auto taken = board.take(**chunk); !taken)
                return std::unexpected(std::move(taken.error()));
        }
        if (onProgress)
            onProgress({ board.written(), rows, board.counts() });
    }
    end.written = board.written();
    end.counts = board.counts();
    end.isStopped = !board.isComplete();
    if (auto synced = file.sync(); !synced)
        return std::unexpected(std::move(synced.error()));
    return end;
}

} // namespace trainyard
