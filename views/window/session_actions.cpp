// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/window/session_actions.h"

#include "models/loaded_runs.h"
#include "models/text/foreign_text.h"
#include "views/panels/number_strip.h"
#include "views/parts/message_bar.h"
#include "views/session/board_page.h"
#include "views/session/compare_page.h"
#include "views/session/variant_strip.h"
#include "views/timeline/timeline_view.h"
#include "views/window/page_place.h"
#include "views/window/workbench.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>

namespace trainyard {

SessionActions::SessionActions(const WindowModels &models, SessionDocument &session, LoadedRuns &runs,
    Workbench &workbench, MessageBar &messages, QObject *parent)
    : QObject(parent)
    , m_models(models)
    , m_session(session)
    , m_runs(runs)
    , m_workbench(workbench)
    , m_messages(messages)
    , m_figures(session, models.catalogue)
    , m_strip(new VariantStrip(session, m_figures))
    , m_board(new BoardPage(session, m_figures))
    , m_comparison(new PagePlace<ComparePage>([this] {
        auto *page = new ComparePage(m_session, m_runs, m_models.catalogue);
        connect(page, &ComparePage::closed, this, &SessionActions::boardRequested);
        return page;
    }))
{
    workbench.addVariants(m_strip);
    session.setViewSource([this] { return view(); });
    wire();
    wireOthers();
}

void SessionActions::wire()
{
    EvaluationBridge &bridge = m_models.bridge;
    connect(&bridge, &EvaluationBridge::evaluationFinished, &m_figures, &VariantFigures::note);
    connect(&bridge, &EvaluationBridge::evaluationFailed, &m_figures, &VariantFigures::noteFailure);
    for (const auto signal : { &PlanDocument::replaced, &PlanDocument::exchanged })
        connect(&m_models.document, signal, this, [this] { pinBaseline(true); }); // after the workbench
    connect(&m_session, &SessionDocument::changed, this, [this] {
        m_figures.setWatched(m_session.isMeeting());
        pinBaseline(false);
        emit changed();
    });
    // The bridge has pinned what is shown: in a meeting its variant is the baseline of the others.
    connect(m_workbench.strip, &NumberStrip::baselinePinRequested, this, [this] {
        if (!m_session.isMeeting())
            return;
        m_session.setBaseline(std::string(m_session.current()));
        m_models.bridge.pinBaseline(); // as it is now
    });
    connect(m_workbench.strip, &NumberStrip::baselineUnpinRequested, this, [this] { m_session.setBaseline({}); });
    connect(&m_runs, &LoadedRuns::changed, this, &SessionActions::changed);
    connect(m_strip, &VariantStrip::branchRequested, this, &SessionActions::branch);
    connect(m_strip, &VariantStrip::boardRequested, this, &SessionActions::boardRequested);
    connect(m_board, &BoardPage::branchRequested, this, &SessionActions::branch);
    connect(m_board, &BoardPage::closed, this, &SessionActions::workbenchRequested);
    connect(m_board, &BoardPage::compareRequested, this, &SessionActions::compare);
    connect(m_board, &BoardPage::saveRequested, this, &SessionActions::saveRequested);
    connect(m_board, &BoardPage::exportRequested, this, [this](const std::string &id) {
        m_session.show(id);
        emit exportRequested();
    });
}

void SessionActions::wireOthers()
{
    const QString kind = QStringLiteral("others");
    connect(&m_session, &SessionDocument::changedByOthers, this, [this, kind](const QStringList &what) {
        m_messages.show({ kind, Message::Tone::Info,
            tr("Somebody else has worked on “%1”: %2.")
                .arg(fileText(m_session.path()), foreignText(what.join(QStringLiteral("; ")))),
            what.join(u'\n'), { { tr("Take it in"), [this] { m_session.takeOthers(); } } } });
    });
    connect(&m_session, &SessionDocument::othersTaken, this,
        [this, kind](const QStringList &what, const QStringList &keptTwice) {
            QString text = tr("What somebody else did came in: %1.").arg(foreignText(what.join(QStringLiteral("; "))));
            if (!keptTwice.isEmpty())
                text += u' '
                    + tr("Both had changed the same variant, and both are kept: %1.")
                          .arg(foreignText(keptTwice.join(QStringLiteral(", "))));
            m_messages.show({ kind, keptTwice.isEmpty() ? Message::Tone::Info : Message::Tone::Warning, text,
                what.join(u'\n'), {} });
        });
    connect(&m_session, &SessionDocument::opened, this, [this, kind] { m_messages.dismiss(kind); });
    connect(&m_session, &SessionDocument::viewRead, this, &SessionActions::restoreView);
}

void SessionActions::branch()
{
    m_session.branch();
}

ComparePage &SessionActions::comparison()
{
    return m_comparison->page();
}

QWidget &SessionActions::comparisonPlace()
{
    return *m_comparison;
}

void SessionActions::compare(const std::string &id)
{
    const std::vector<Variant> &all = m_session.variants();
    if (all.size() < 2)
        return compareWithRun();
    std::string first = m_session.value().baseline, second = id.empty() ? m_session.current() : id;
    if (first.empty())
        first = all.front().id;
    if (first == second)
        second = all.front().id == first ? all[1].id : all.front().id;
    comparison().compare(first, second);
    emit comparisonRequested();
}

void SessionActions::compareWithRun()
{
    const LoadedRun *run = m_runs.find(m_runs.current());
    for (const LoadedRun &one : m_runs.all())
        if (!run && one.run())
            run = &one;
    if (!run)
        return;
    comparison().compare(m_session.current(), ComparePage::keyOfRun(run->id));
    emit comparisonRequested();
}

bool SessionActions::canCompare() const
{
    return m_session.variants().size() > 1
        || std::ranges::any_of(m_runs.all(), [](const LoadedRun &run) { return run.run() != nullptr; });
}

void SessionActions::remove()
{
    const QString name = QString::fromStdString(m_session.currentVariant().name);
    m_session.remove(std::string(m_session.current()));
    if (m_session.canRestore())
        m_messages.show(
            { QStringLiteral("removed"), Message::Tone::Info, tr("Variant “%1” was removed.").arg(foreignText(name)),
                {}, { { tr("Bring it back"), [this] { m_session.restoreRemoved(); } } } });
}

/// While another variant is shown its plan is what the numbers are compared with; in the baseline itself, and without
/// one, that is the plan as the variant began.
void SessionActions::pinBaseline(bool isOther)
{
    const Variant *baseline = m_session.value().variant(m_session.value().baseline);
    isOther |= m_session.value().baseline != m_pinned;
    m_pinned = m_session.value().baseline;
    if (baseline && baseline->id != m_session.current())
        m_models.bridge.pinPlan(baseline->plan);
    else if (isOther)
        m_models.bridge.pinOpening(m_models.document.opening());
}

std::string SessionActions::view() const
{
    QJsonObject view {
        { QStringLiteral("current"), QString::fromStdString(m_session.current()) },
        { QStringLiteral("layout"), QString::fromLatin1(m_workbench.layoutState().toBase64()) },
        { QStringLiteral("rows"), QString::fromLatin1(m_workbench.timeline->rowsState().toBase64()) },
    };
    if (const std::string runs = m_runs.toJson(); !runs.empty())
        view[QStringLiteral("runs")] = QJsonDocument::fromJson(QByteArray::fromStdString(runs)).array();
    return QJsonDocument(view).toJson(QJsonDocument::Compact).toStdString();
}

void SessionActions::restoreView(const std::string &view)
{
    const QJsonObject object = QJsonDocument::fromJson(QByteArray::fromStdString(view)).object();
    const auto bytes = [&](const char *key) {
        return QByteArray::fromBase64(object[QLatin1String(key)].toString().toLatin1());
    };
    if (const QByteArray layout = bytes("layout"); !layout.isEmpty())
        m_workbench.restoreLayout(layout);
    if (const QByteArray rows = bytes("rows"); !rows.isEmpty())
        m_workbench.timeline->restoreRows(rows);
    m_session.show(object[QStringLiteral("current")].toString().toStdString());
    if (const QJsonArray runs = object[QStringLiteral("runs")].toArray(); !runs.isEmpty())
        m_runs.restore(QJsonDocument(runs).toJson(QJsonDocument::Compact).toStdString());
}

} // namespace trainyard
