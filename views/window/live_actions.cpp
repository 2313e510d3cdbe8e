// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/window/live_actions.h"

#include "models/text/foreign_text.h"
#include "views/cluster/cluster_map.h"
#include "views/live/alarm_list.h"
#include "views/live/connect_sheet.h"
#include "views/live/live_page.h"
#include "views/live/live_strip.h"
#include "views/live/what_if_list.h"
#include "views/parts/message_bar.h"
#include "views/parts/prompts.h"
#include "views/timeline/timeline_view.h"
#include "views/window/file_actions.h"
#include "views/window/page_place.h"
#include "views/window/saved_recording.h"
#include "views/window/workbench.h"

#include <QDir>
#include <QStackedWidget>

#include <utility>

namespace trainyard {

namespace {

const QString kLiveMessage = QStringLiteral("live");

} // namespace

LiveActions::LiveActions(const WindowModels &models, LiveDocument &live, RunDocument &runs, FileActions &files,
    Prompts &prompts, MessageBar &messages, QWidget *window)
    : QObject(window)
    , m_document(models.document)
    , m_live(live)
    , m_runs(runs)
    , m_files(files)
    , m_prompts(prompts)
    , m_messages(messages)
    , m_window(window)
    , m_page(new PagePlace<LivePage>([this] { return makePage(); }))
    , m_sheet(new PagePlace<ConnectSheet>([this] { return makeSheet(); }))
    , m_strip(new LiveStrip(live, &runs))
{
    connect(m_strip, &LiveStrip::pageRequested, this, &LiveActions::pageRequested);
    connect(&m_document, &PlanDocument::planChanged, &live, &LiveDocument::setPlan);
    live.setPlan(m_document.plan());
    connect(&live, &LiveDocument::alarmFault, this, [this](const QString &text) {
        m_messages.show({ QStringLiteral("live"), Message::Tone::Error, tr("Alarms: %1").arg(text), {}, {} });
    });
    connect(
        &live, &LiveDocument::sourcesChanged, this, [this] { static_cast<void>(m_page->page()); },
        Qt::SingleShotConnection);
    for (const auto signal : { &LiveDocument::sourcesChanged, &LiveDocument::stepsChanged })
        connect(&live, signal, this, &LiveActions::tellChanges);
    connect(&live, &LiveDocument::followingChanged, this, &LiveActions::tellChanges);
    connect(&live, &LiveDocument::saved, this, [this](const QString &path) {
        m_messages.show(
            { kSaveMessage, Message::Tone::Info, tr("Recording written to %1").arg(pathText(path)), {}, {} });
        if (const auto then = std::exchange(m_afterSave, nullptr))
            then();
    });
    connect(&live, &LiveDocument::saveFailed, this, [this](const QString &path, const Errors &errors) {
        m_afterSave = nullptr;
        m_messages.show({ kSaveMessage, Message::Tone::Error, tr("“%1” could not be written.").arg(fileText(path)),
            QString::fromStdString(toString(errors.front())), {} });
    });
    connect(&runs, &RunDocument::runChanged, this, &LiveActions::changed);
    connect(&runs, &RunDocument::overlayChanged, this, [this](const RunOverlayPtr &overlay) {
        if (m_awaited && overlay && overlay->step >= 0
            && overlay->run->steps[std::size_t(overlay->step)].number == m_awaited->step)
            showPlace(std::exchange(m_awaited, std::nullopt)->alarm);
    });
}

/// Several times a second nothing has changed that a command asks.
void LiveActions::tellChanges()
{
    const std::array now { m_live.isLive(), m_live.isFollowing(), m_live.isHeld(), m_live.canAskWhatIf(),
        m_live.newestStep() >= 0 };
    if (std::exchange(m_can, now) != now)
        emit changed();
}

LivePage &LiveActions::page()
{
    return m_page->page();
}

ConnectSheet &LiveActions::sheet()
{
    return m_sheet->page();
}

QWidget &LiveActions::pagePlace()
{
    return *m_page;
}

QWidget &LiveActions::sheetPlace()
{
    return *m_sheet;
}

ConnectSheet *LiveActions::makeSheet()
{
    auto *sheet = new ConnectSheet(
        [this](const QString &address, const live::SourceSettings &settings) { return connectTo(address, settings); });
    connect(sheet, &ConnectSheet::connected, this, &LiveActions::pageRequested);
    connect(sheet, &ConnectSheet::cancelled, this, [this] {
        if (m_live.isLive())
            emit pageRequested();
        else
            emit workbenchRequested();
    });
    sheet->setFileChooser([this](const QString &title) { return fileOf(title); });
    return sheet;
}

LivePage *LiveActions::makePage()
{
    auto *page = new LivePage(m_live, m_runs);
    connect(page, &LivePage::closed, this, &LiveActions::workbenchRequested);
    connect(page, &LivePage::connectRequested, this, &LiveActions::sheetRequested);
    connect(page, &LivePage::replayRequested, this, qOverload<>(&LiveActions::replay));
    connect(page, &LivePage::saveRequested, this, &LiveActions::save);
    connect(page, &LivePage::rulesRequested, this, &LiveActions::readAlarmRules);
    connect(page, &LivePage::compareRequested, this, &LiveActions::comparisonRequested);
    connect(page->alarms, &AlarmList::alarmChosen, this, &LiveActions::goTo);
    connect(page->whatIfs, &WhatIfList::tried, this, [this](const PlanPtr &plan, const QString &text) {
        m_document.tryPlan(plan, tr("What if: %1").arg(text));
        emit workbenchRequested();
    });
    connect(page->whatIfs, &WhatIfList::planRequested, &m_files, &FileActions::startWith);
    return page;
}

void LiveActions::addTo(QStackedWidget &pages, Workbench &workbench)
{
    m_workbench = &workbench;
    pages.addWidget(m_page);
    pages.addWidget(m_sheet);
    workbench.addLiveStrip(m_strip);
}

Expected<void> LiveActions::connectTo(const QString &address, const live::SourceSettings &settings)
{
    const Expected<std::uint32_t> source = m_live.connectTo(address, settings);
    if (!source)
        return std::unexpected(source.error());
    return {};
}

QString LiveActions::fileOf(const QString &title)
{
    const QStringList files = m_prompts.runToOpen(m_window, title, m_files.folder());
    return files.isEmpty() ? QString() : files.front();
}

void LiveActions::replay()
{
    if (const QString path = fileOf(tr("Replay a recording as if it were live")); !path.isEmpty())
        replay(path);
}

void LiveActions::readAlarmRules()
{
    const QString path = fileOf(tr("Read rules of alarms"));
    if (path.isEmpty())
        return;
    const auto leftOut = m_live.readAlarmRules(path);
    if (!leftOut) {
        QStringList faults;
        for (const Error &fault : leftOut.error())
            faults << QString::fromStdString(toString(fault));
        m_messages.show({ QStringLiteral("live"), Message::Tone::Error, tr("The rules stay as they were."),
            faults.join(u'\n'), {} });
    } else if (!leftOut->isEmpty()) {
        m_messages.show({ QStringLiteral("live"), Message::Tone::Warning,
            tr("Not notified by a file that is read here: %1").arg(leftOut->join(QStringLiteral(", "))),
            tr("A command, or a webhook beyond this machine, is allowed on the command line alone: --alarms."), {} });
    }
}

bool LiveActions::canReplayThis() const
{
    return m_runs.run() && !m_runs.isLive() && m_runs.paths().size() == 1
        && m_runs.paths().front().endsWith(kRecordingSuffix);
}

void LiveActions::replayThis()
{
    if (canReplayThis())
        replay(QString(m_runs.paths().front()));
}

void LiveActions::replay(const QString &path)
{
    if (const auto done = connectTo(QStringLiteral("replay:") + path, {}); done)
        emit pageRequested();
    else
        m_messages.show({ kLiveMessage, Message::Tone::Error, tr("“%1” cannot be replayed.").arg(fileText(path)),
            QString::fromStdString(toString(done.error())), {} });
}

void LiveActions::save()
{
    QString path = m_prompts.fileToSave(m_window, tr("Save what was told so far"),
        QDir(m_files.folder()).filePath(tr("live") + kRecordingSuffix), tr("Recordings (*%1)").arg(kRecordingSuffix));
    if (path.isEmpty()) {
        m_afterSave = nullptr;
        return;
    }
    if (!path.endsWith(kRecordingSuffix))
        path += kRecordingSuffix;
    m_live.save(path);
}

void LiveActions::afterUnsavedHandled(std::function<void()> then)
{
    switch (m_prompts.unsavedRun(m_window)) {
    case Prompts::Unsaved::Save:
        m_afterSave = std::move(then);
        save();
        break;
    case Prompts::Unsaved::Discard:
        then();
        break;
    case Prompts::Unsaved::Cancel:
        break;
    }
}

/// Its step first, the one that its sentence names, which may have to be asked of the session; then its place.
void LiveActions::goTo(const watch::Alarm &alarm)
{
    emit workbenchRequested();
    m_awaited.reset();
    const bool isHeldStill = m_runs.run() && stepIndex(*m_runs.run(), alarm.firstStep) >= 0;
    const std::int64_t number = isHeldStill ? alarm.firstStep : alarm.lastStep;
    const RunStep *step = m_runs.step();
    if (number < 0 || (step && step->number == number)) {
        showPlace(alarm);
        return;
    }
    m_awaited = { alarm, number };
    m_runs.setStep(number);
}

void LiveActions::showPlace(const watch::Alarm &alarm)
{
    if (!m_workbench)
        return;
    if (alarm.ranks.size() == 1)
        m_runs.setRank(alarm.ranks.front());
    const Cluster &cluster = m_document.plan()->cluster;
    if (alarm.datacenter >= 0 && std::size_t(alarm.datacenter) < cluster.datacenters.size()) {
        MapItem item { .kind = MapItem::Kind::Island, .island = alarm.datacenter };
        const int other = alarm.otherDatacenter;
        if (other >= 0 && std::size_t(other) < cluster.datacenters.size()) {
            const auto &from = cluster.datacenters[std::size_t(alarm.datacenter)].id;
            const auto &to = cluster.datacenters[std::size_t(other)].id;
            for (std::size_t i = 0; i < cluster.wanLinks.size(); ++i) {
                const auto &between = cluster.wanLinks[i].between;
                if ((between[0] == from && between[1] == to) || (between[0] == to && between[1] == from))
                    item = { .kind = MapItem::Kind::Link, .link = int(i) };
            }
        }
        m_workbench->map->select(item);
    }
    if (!alarm.ranks.empty())
        m_workbench->timeline->revealRank(alarm.ranks.front());
}

} // namespace trainyard
