// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/validation/validation_runner.h"

#include <chrono>
#include <thread>
#include <utility>

namespace trainyard {

namespace {

constexpr int kTickMs = 50;

ExpectedAll<std::vector<RowSet>> readProductOrFile(const QString &file)
{
    if (file.isEmpty())
        return builtinRows();
    ExpectedAll<RowSet> set = readRows(file.toStdString());
    if (!set)
        return std::unexpected(std::move(set.error()));
    return std::vector { *std::move(set) };
}

/// Half of the machine: a drag of the plan beside it must stay smooth.
int threadCount()
{
    return std::max(1, int(std::thread::hardware_concurrency() / 2));
}

} // namespace

ValidationRunner::ValidationRunner(const Catalogue &catalogue, QObject *parent)
    : ValidationRunner(catalogue, readProductOrFile, parent)
{
}

ValidationRunner::ValidationRunner(const Catalogue &catalogue, Read read, QObject *parent)
    : QObject(parent)
    , m_catalogue(catalogue)
    , m_read(std::move(read))
{
    m_tick.setInterval(kTickMs);
    connect(&m_tick, &QTimer::timeout, this, [this] { emit progressed(m_progress->done, m_progress->rows); });
}

ValidationRunner::~ValidationRunner()
{
    m_stop.request_stop();
}

void ValidationRunner::run(const QString &file)
{
    stop();
    m_stop = std::stop_source();
    m_progress = std::make_shared<Progress>();
    m_isRunning = true;
    m_tick.start();
    const auto work = [read = m_read, &catalogue = m_catalogue, file, progress = m_progress,
                          stop = m_stop.get_token()]() -> ExpectedAll<ValidatedRowsPtr> {
        ExpectedAll<std::vector<RowSet>> sets = read(file);
        if (!sets)
            return std::unexpected(std::move(sets.error()));
        auto found = std::make_shared<ValidatedRows>();
        found->file = file;
        found->sets = *std::move(sets);
        const auto begin = std::chrono::steady_clock::now();
        ValidationRun run = runRows(found->sets, catalogue,
            { .threads = threadCount(), .stop = stop, .progress = [&progress](std::size_t done, std::size_t rows) {
                 progress->rows = int(rows);
                 progress->done = int(done);
             } });
        found->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        std::vector<LabelCoverage> coverage =
            coverageOf(run, file.isEmpty() ? RowsOrigin::Builtin : RowsOrigin::Own, catalogue, stop);
        found->validation = summarised(found->sets, std::move(run), builtinGates(), std::move(coverage));
        if (file.isEmpty())
            found->leftOut = leftOutRows();
        return found;
    };
    m_queue.run(this, work, [this, file, generation = m_generation](ExpectedAll<ValidatedRowsPtr> result) {
        arrived(generation, file, std::move(result));
    });
    emit started(file);
}

void ValidationRunner::arrived(std::uint64_t generation, const QString &file, ExpectedAll<ValidatedRowsPtr> result)
{
    if (generation != m_generation)
        return; // given up
    stop();
    if (!result) {
        emit failed(file, result.error());
        return;
    }
    m_result = *std::move(result);
    emit finished(m_result);
}

void ValidationRunner::stop()
{
    m_stop.request_stop();
    ++m_generation;
    m_isRunning = false;
    m_tick.stop();
}

void ValidationRunner::cancel()
{
    if (!m_isRunning)
        return;
    stop();
    emit cancelled();
}

} // namespace trainyard
