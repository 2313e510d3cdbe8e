// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/loaded_runs.h"

#include "core/runs/telemetry/line_pattern.h"
#include "models/read_run.h"
#include "models/text/foreign_text.h"

#include <QDir>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QThread>

#include <algorithm>

namespace trainyard {

namespace {

constexpr int kLongestRunName = 60, kLeastReaders = 2;

} // namespace

LoadedRuns::LoadedRuns(RunDocument &runs, QObject *parent)
    : LoadedRuns(
        runs,
        [](const std::vector<std::string> &paths, const SourceOptions &options, const SourcesProgress &progress) {
            return readSources(paths, options, std::max(kLeastReaders, QThread::idealThreadCount()), progress);
        },
        parent)
{
}

LoadedRuns::LoadedRuns(RunDocument &runs, RunDocument::Read read, QObject *parent)
    : QObject(parent)
    , m_runs(runs)
    , m_read(std::move(read))
{
    connect(&runs, &RunDocument::runChanged, this, &LoadedRuns::follow);
    connect(&runs, &RunDocument::runUpdated, this, [this] {
        if (!m_runs.isLive()) // it is over, and stays
            follow();
    });
    connect(&runs, &RunDocument::optionsChanged, this, [this] {
        if (LoadedRun *run = entry(m_current); run && !m_isShowing) {
            run->step = m_runs.options().step;
            emit changed();
        }
    });
}

LoadedRuns::~LoadedRuns()
{
    m_stop.request_stop();
    m_queue.wait();
}

const LoadedRun *LoadedRuns::find(const std::string &id) const
{
    const auto at = std::ranges::find(m_all, id, &LoadedRun::id);
    return at == m_all.end() ? nullptr : &*at;
}

LoadedRun *LoadedRuns::entry(const std::string &id)
{
    const auto at = std::ranges::find(m_all, id, &LoadedRun::id);
    return at == m_all.end() ? nullptr : &*at;
}

void LoadedRuns::follow()
{
    if (m_isShowing)
        return;
    if (m_runs.openedReference().run)
        take(m_runs.openedReference());
    const std::string before = m_current;
    if (m_runs.isLive())
        m_current.clear();
    else if (m_runs.run())
        m_current = take(m_runs.opened()).id;
    else {
        std::erase_if(m_all, [&](const LoadedRun &one) { return one.id == before; }); // it was closed
        m_current.clear();
    }
    if (m_current != before)
        m_awaited.clear(); // a person has chosen
    emit changed();
}

LoadedRun &LoadedRuns::take(const OpenedRun &opened)
{
    auto at = std::ranges::find_if(m_all, [&](const LoadedRun &one) { return one.opened.run == opened.run; });
    if (at == m_all.end() && !opened.paths.isEmpty())
        at = std::ranges::find_if(m_all, [&](const LoadedRun &one) { return one.opened.paths == opened.paths; });
    if (at == m_all.end()) {
        const int color = freeColor();
        at = m_all.insert(m_all.end(), LoadedRun { .id = "r" + std::to_string(++m_made) });
        at->color = color;
    }
    if (at->opened.run != opened.run)
        at->step.reset();
    if (opened.run == m_runs.run())
        at->step = m_runs.options().step;
    at->opened = opened;
    at->isReading = false;
    at->errors.clear();
    at->name = nameOf(*at);
    return *at;
}

QString LoadedRuns::nameOf(const LoadedRun &run) const
{
    QString plain = run.run() ? QString::fromStdString(run.run()->recording->name) : QString();
    if (plain.isEmpty())
        plain = QString::fromStdString(nameOfRun(run.opened.paths));
    plain = plain.isEmpty() ? tr("run") : foreignText(plain, kLongestRunName);
    const auto isTaken = [&](const QString &name) {
        return std::ranges::any_of(
            m_all, [&](const LoadedRun &other) { return other.id != run.id && other.name == name; });
    };
    QString name = plain;
    if (isTaken(name) && !run.opened.paths.isEmpty()) // "monday/traces" beside "tuesday/traces"
        name = foreignText(
            QFileInfo(QDir::cleanPath(run.opened.paths.front())).dir().dirName() + u'/' + plain, kLongestRunName);
    for (int number = 2; isTaken(name); ++number)
        name = tr("%1 (%2)").arg(plain).arg(number);
    return name;
}

int LoadedRuns::freeColor() const
{
    int color = 0;
    while (std::ranges::find(m_all, color, &LoadedRun::color) != m_all.end())
        ++color;
    return color;
}

void LoadedRuns::show(const std::string &id)
{
    const LoadedRun *run = find(id);
    if (!run || !run->run())
        return;
    m_awaited.clear();
    m_current = id;
    m_isShowing = true;
    m_runs.show(OpenedRun(run->opened), run->step);
    m_isShowing = false;
    follow(); // the reference may have been this one
}

void LoadedRuns::close(const std::string &id)
{
    const LoadedRun *run = find(id);
    if (!run)
        return;
    if (id == m_awaited)
        m_awaited.clear();
    if (id == m_current)
        return m_runs.close(); // which is heard
    const RunPtr gone = run->run();
    std::erase_if(m_all, [&](const LoadedRun &one) { return one.id == id; });
    if (gone && gone == m_runs.reference())
        m_runs.closeReference();
    emit changed();
}

void LoadedRuns::setStep(const std::string &id, std::optional<std::int64_t> step)
{
    LoadedRun *run = entry(id);
    if (!run || run->step == step)
        return;
    run->step = step;
    if (id == m_current)
        m_runs.setStep(step); // tells of it
    else
        emit changed();
}

void LoadedRuns::readAgain(const std::string &id)
{
    LoadedRun *run = entry(id);
    if (!run || run->isReading || run->opened.paths.isEmpty())
        return;
    run->isReading = true;
    run->errors.clear();
    emit changed();
    readNext();
}

std::string LoadedRuns::toJson() const
{
    QJsonArray runs;
    for (const LoadedRun &one : m_all) {
        if (one.opened.paths.isEmpty())
            continue;
        QJsonArray paths;
        for (const QString &path : one.opened.paths)
            paths.append(QFileInfo(path).absoluteFilePath());
        QJsonObject run { { QStringLiteral("paths"), paths } };
        if (one.step)
            run[QStringLiteral("step")] = qint64(*one.step);
        if (one.id == m_current)
            run[QStringLiteral("shown")] = true;
        runs.append(run);
    }
    return runs.isEmpty() ? std::string() : QJsonDocument(runs).toJson(QJsonDocument::Compact).toStdString();
}

void LoadedRuns::restore(const std::string &json)
{
    const QJsonArray runs = QJsonDocument::fromJson(QByteArray::fromStdString(json)).array();
    for (const QJsonValue &value : runs) {
        QStringList paths;
        for (const QJsonValue &path : value[QLatin1String("paths")].toArray())
            if (path.isString())
                paths << path.toString();
        const bool isKnown =
            std::ranges::any_of(m_all, [&](const LoadedRun &one) { return one.opened.paths == paths; });
        if (paths.isEmpty() || isKnown)
            continue;
        const int color = freeColor();
        LoadedRun &run = m_all.emplace_back(LoadedRun { .id = "r" + std::to_string(++m_made) });
        run.opened.paths = paths;
        run.color = color;
        run.isReading = true;
        run.name = nameOf(run);
        if (const QJsonValue step = value[QLatin1String("step")]; step.isDouble())
            run.step = step.toInteger();
        if (value[QLatin1String("shown")].toBool())
            m_awaited = run.id;
    }
    if (runs.isEmpty())
        return;
    emit changed();
    readNext();
}

/// One at a time, each beside the GUI thread.
void LoadedRuns::readNext()
{
    const auto next = std::ranges::find(m_all, true, &LoadedRun::isReading);
    if (next == m_all.end() || std::exchange(m_isReading, true))
        return;
    SourceOptions options;
    options.stop = m_stop.get_token();
    options.keepsHostSpans = m_runs.keepsHost();
    if (const QString pattern = m_runs.linePattern(); !pattern.isEmpty())
        if (auto parsed = LinePattern::parse(pattern.toStdString()))
            options.linePattern = std::make_shared<const LinePattern>(*std::move(parsed));
    m_queue.run(
        this, [paths = next->opened.paths, options, read = m_read] { return readRun(paths, options, {}, read); },
        [this, id = next->id](ReadRun found) {
            m_isReading = false;
            LoadedRun *run = entry(id);
            if (run && run->isReading) { // it may have been closed, or opened meanwhile
                run->isReading = false;
                run->opened.run = std::move(found.run);
                run->opened.fingerprint = found.fingerprint;
                run->errors = std::move(found.errors);
                run->name = nameOf(*run);
                if (run->run() && (id == m_awaited || (m_awaited.empty() && !m_runs.run() && !m_runs.isReading())))
                    show(id);
                emit changed();
            }
            m_queue.dispose(std::move(found.run));
            readNext();
        });
}

} // namespace trainyard
