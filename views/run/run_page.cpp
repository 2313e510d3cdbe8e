// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/run/run_page.h"

#include "views/export/file_target.h"
#include "views/export/panel_menu.h"
#include "views/export/panel_picture.h"
#include "views/panels/card.h"
#include "views/panels/evidence_table.h"
#include "views/parts/text_line.h"
#include "views/run/difference_bars.h"
#include "views/run/profile_card.h"
#include "views/run/rank_strip.h"
#include "views/run/run_invitation.h"
#include "views/run/run_plot.h"
#include "views/run/run_words.h"
#include "views/run/sentence_list.h"
#include "views/run/step_scrubber.h"
#include "views/run/trace_card.h"
#include "views/run/verdict_section.h"
#include "views/theme/theme.h"

#include <QComboBox>
#include <QMenu>
#include <QPushButton>
#include <QShortcut>
#include <QToolButton>

#include <algorithm>

namespace trainyard {

namespace {

constexpr int kReasons = 4; // column of the sources that takes what room is left
const char *const kStepTime = "step_time";

} // namespace

RunPage::RunPage(RunDocument &runs, QWidget *parent)
    : QWidget(parent)
    , back(new QPushButton(tr("‹ Back to the plan"), this))
    , exportCsv(new QPushButton(tr("Export CSV…"), this))
    , run(new QToolButton(this))
    , picture(new QToolButton(this))
    , fold(new QToolButton(this))
    , scrubber(new StepScrubber(runs, StepScrubber::Size::Full, this))
    , ranks(new QComboBox(this))
    , quantity(new QComboBox(this))
    , bars(new DifferenceBars)
    , strip(new RankStrip)
    , stepPlot(new RunPlot)
    , otherPlot(new RunPlot)
    , suspects(new SentenceList(Ink::Text))
    , clocks(new SentenceList(Ink::Muted))
    , notes(new SentenceList(Ink::Muted))
    , sources(new EvidenceTable(tr("Files of the run"), kReasons))
    , invitation(new Invitation(runInvitation()))
    , verdict(new VerdictSection)
    , tabs(new TabbedCard(tr("Parts of the run")))
    , profile(new RunProfile(runs, this))
    , kernels(new ProfileCard(*profile))
    , trace(new TraceCard(*profile))
    , m_runs(runs)
    , m_title(new TextLine(tr("Plan against run"), Ink::Text, this))
    , m_overview(new TextLine({}, Ink::Muted, this))
    , m_result(new TextLine({}, Ink::Text, this))
    , m_step(new TextLine({}, Ink::Muted, this))
    , m_rankLabel(new TextLine(tr("Spans of"), Ink::Muted, this))
    , m_missing(new TextLine({}, Ink::Muted, this))
    , m_plotsEmpty(new TextLine({}, Ink::Muted, this))
    , m_stepTitle(new TextLine({}, Ink::Text, this))
    , m_legend(new TextLine({}, Ink::Faint, this))
    , m_noSuspects(new TextLine({}, Ink::Muted, this))
    , m_captions(new SentenceList(Ink::Faint, -2))
    , m_sourceRows(new TextTableModel(this))
    , m_body(new QWidget(this))
    , m_plots(new QWidget)
    , m_other(new QWidget)
    , m_noRun(new QWidget(this))
{
    setAccessibleName(tr("Plan against run"));
    setFocusPolicy(Qt::ClickFocus); // keys are this page's, whatever was clicked last
    sources->setModel(m_sourceRows);
    arrange();
    connectParts();
    showRun();
}

void RunPage::connectParts()
{
    connect(back, &QPushButton::clicked, this, &RunPage::closed);
    connect(exportCsv, &QPushButton::clicked, this, &RunPage::saveCsv);
    auto *menu = new QMenu(picture);
    connect(menu, &QMenu::aboutToShow, this, [this, menu] {
        menu->clear();
        addPictureActions(*menu, m_body, tr("%1 plan against run").arg(m_planName));
    });
    picture->setMenu(menu);
    setPanelTable(m_body, [this] { return toTsv(); });
    // Also where a bar around the page has the focus; it holds while the page is seen.
    auto *escape = new QShortcut(QKeySequence(Qt::Key_Escape), this, nullptr, nullptr, Qt::WindowShortcut);
    connect(escape, &QShortcut::activated, this, &RunPage::closed);
    connect(&m_runs, &RunDocument::runChanged, this, &RunPage::showRun);
    connect(&m_runs, &RunDocument::runUpdated, this, &RunPage::showUpdated);
    connect(&m_runs, &RunDocument::overlayChanged, this, &RunPage::showOverlay);
    connect(&m_runs, &RunDocument::optionsChanged, this, &RunPage::showStep);
    connect(&m_runs, &RunDocument::watchingChanged, this, &RunPage::showOverview);
    for (RunPlot *plot : { stepPlot, otherPlot })
        connect(plot, &RunPlot::stepChosen, this, [this](qint64 number) { m_runs.setStep(number); });
    connect(strip, &RankStrip::rankChosen, this, [this](std::optional<int> rank) { m_runs.setRank(rank); });
    connect(ranks, &QComboBox::activated, this, [this](int index) {
        const QVariant rank = ranks->itemData(index);
        m_runs.setRank(rank.isValid() ? std::optional(rank.toInt()) : std::nullopt);
    });
    stepPlot->alignWith(*otherPlot);
    connect(quantity, &QComboBox::activated, this, &RunPage::showQuantity);
    connect(fold, &QToolButton::toggled, this, [this](bool isOpen) { setFolded(!isOpen); });
}

void RunPage::setPlanName(const QString &name)
{
    m_planName = name;
}

QString RunPage::result() const
{
    return m_result->text();
}

void RunPage::setFolded(bool isFolded)
{
    fold->setArrowType(isFolded ? Qt::RightArrow : Qt::DownArrow);
    fold->setChecked(!isFolded);
    sources->setVisible(!isFolded);
    if (!isFolded)
        fillSources();
}

void RunPage::showOverview()
{
    const RunPtr &read = m_runs.run();
    QString text;
    if (read) {
        text = nameOf(*read) + QStringLiteral("  ·  ") + overviewOf(*read);
        if (m_runs.isWatching())
            text += QStringLiteral("  ·  ") + tr("watched for changes");
        if (m_runs.reference())
            text = tr("%1  against  %2").arg(text, nameOf(*m_runs.reference()));
    }
    m_overview->setText(text);
    m_overview->setToolTip(text);
}

void RunPage::showRun()
{
    const RunPtr &read = m_runs.run();
    m_body->setVisible(read != nullptr);
    m_noRun->setVisible(!read);
    exportCsv->setEnabled(read != nullptr);
    picture->setEnabled(read != nullptr);
    showOverview();
    if (!read) {
        showOverlay();
        return;
    }
    fillSources();
    clocks->setSentences(clockSentences(*read));
    fillRanks();
    showStep();
}

void RunPage::fillSources()
{
    const RunPtr &read = m_runs.run();
    if (!read)
        return;
    m_sourceRows->setTable(sourceTable(*read));
    const int files = m_sourceRows->rowCount(), refused = refusedFiles(*read);
    fold->setText(
        refused > 0 ? tr("Sources: %L1, %L2 of them not read").arg(files).arg(refused) : tr("Sources: %L1").arg(files));
}

/// Several times a second: what is laid out anew is what changed.
void RunPage::showUpdated()
{
    const RunPtr &read = m_runs.run();
    if (!read || !isVisible()) {
        m_isOwed = read != nullptr;
        return;
    }
    showOverview();
    if (fold->isChecked() && m_sourceRows->rowCount() != int(read->recording->sources.size()))
        fillSources();
    if (clockSentences(*read) != clocks->sentences())
        clocks->setSentences(clockSentences(*read));
    if (m_ranksListed != read->recording->ranks.size())
        fillRanks();
}

void RunPage::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    if (std::exchange(m_isOwed, false)) {
        showRun();
        showOverlay();
    }
}

void RunPage::fillRanks()
{
    ranks->clear();
    m_ranksListed = m_runs.run()->recording->ranks.size();
    ranks->addItem(tr("the slowest rank of each row"));
    for (const RankRecording &rank : m_runs.run()->recording->ranks) {
        if (rank.rank < 0 || rank.streams.empty())
            continue;
        const QString host = QString::fromStdString(rank.host);
        ranks->addItem(
            host.isEmpty() ? tr("rank %1").arg(rank.rank) : tr("rank %1, %2").arg(rank.rank).arg(host), rank.rank);
    }
    const bool hasSpans = ranks->count() > 1;
    ranks->setVisible(hasSpans);
    m_rankLabel->setVisible(hasSpans);
}

void RunPage::showStep()
{
    const RunPtr &read = m_runs.run();
    const RunStep *step = m_runs.step();
    m_step->setText(read && step ? stepSentence(*read, *step) : QString());
    const std::optional<std::int64_t> number = step ? std::optional(step->number) : std::nullopt;
    stepPlot->setStep(number);
    otherPlot->setStep(number);
    const std::optional<int> rank = m_runs.options().rank;
    ranks->setCurrentIndex(rank ? std::max(0, ranks->findData(*rank)) : 0);
    const bool isOfRun = m_runs.overlay() && m_runs.overlay()->run == read;
    strip->setOverlay(isOfRun ? m_runs.overlay() : nullptr, rank);
}

void RunPage::showOverlay()
{
    if (m_runs.isLive() && !isVisible()) {
        m_isOwed = true;
        return;
    }
    const RunOverlayPtr &overlay = m_runs.overlay();
    const bool isOfRun = overlay && overlay->run == m_runs.run();
    bars->setOverlay(isOfRun ? overlay : nullptr);
    verdict->setVerdict(isOfRun && !overlay->reference ? m_runs.verdict() : nullptr);
    if (!isOfRun) {
        m_result->setText(m_runs.run() ? tr("Laying the run under the plan…") : QString());
        stepPlot->setCurves({}, {}, {});
        otherPlot->setCurves({}, {}, {});
        for (SentenceList *list : { suspects, notes, m_captions }) // what was said of another run
            list->setSentences({});
        m_noSuspects->hide();
        m_missing->hide();
        strip->setOverlay(nullptr, {});
        return;
    }
    bars->setVisible(overlay->step >= 0);
    m_result->setText(resultSentence(*overlay));
    m_title->setText(overlay->reference ? tr("Run against run") : tr("Plan against run"));
    m_legend->setText(tr("dashed: %1  ·  rings: not in the median  ·  a click shows the step")
                          .arg(overlay->reference ? nameOf(*overlay->reference) : tr("the plan")));
    QStringList captions, told;
    for (const std::string &note : overlay->differences.notes)
        captions << sentenceOf(note);
    for (const Straggler &straggler : overlay->suspects.stragglers)
        told << sentenceOf(straggler.sentence);
    for (const SlowLink &link : overlay->suspects.links)
        told << sentenceOf(link.sentence);
    m_captions->setSentences(captions);
    suspects->setSentences(told);
    m_noSuspects->setVisible(told.isEmpty());
    m_noSuspects->setText(overlay->run->collectives.empty()
            ? tr("No collectives were matched across ranks, so that no rank can be called late.")
            : tr("No rank and no link stands out by 2 % of the step."));
    QStringList remarks;
    for (const std::vector<std::string> *list : { &overlay->notes, &overlay->run->notes })
        for (const std::string &note : *list)
            remarks << sentenceOf(note);
    remarks.removeDuplicates();
    notes->setSentences(remarks);
    const QString missing = missingSentence(*overlay);
    m_missing->setText(missing);
    m_missing->setVisible(!missing.isEmpty());
    showStep();
    fillQuantities();
}

void RunPage::fillQuantities()
{
    const std::vector<RunCurve> &curves = m_runs.overlay()->curves;
    fillQuantityNames();
    m_other->setVisible(quantity->count() > 0);
    m_plots->setVisible(!curves.empty());
    m_plotsEmpty->setVisible(curves.empty());
    m_plotsEmpty->setText(tr("No file tells a quantity over the steps."));
    double from = 0, to = 0;
    bool isFirst = true;
    for (const RunCurve &curve : curves)
        if (!curve.step.empty() && !curve.isOverTime) {
            from = isFirst ? curve.step.front() : std::min(from, curve.step.front());
            to = isFirst ? curve.step.back() : std::max(to, curve.step.back());
            isFirst = false;
        }
    const auto own = std::ranges::find(curves, kStepTime, &RunCurve::name);
    m_stepTitle->setText(own == curves.end() ? tr("Step time") : QString::fromStdString(own->title));
    m_steps = { from, to };
    stepPlot->setCurves(m_runs.overlay(), kStepTime, m_loaded ? std::vector<RunCurve>() : m_runs.referenceCurves());
    showOthers();
    showQuantity();
}

void RunPage::fillQuantityNames()
{
    std::vector<std::pair<QString, QString>> titles; // and names, each once
    for (const RunCurve &curve : m_runs.overlay()->curves) {
        const QString name = QString::fromStdString(curve.name);
        if (name != QLatin1String(kStepTime)
            && std::ranges::find(titles, name, &std::pair<QString, QString>::second) == titles.end())
            titles.emplace_back(QString::fromStdString(curve.title), name);
    }
    const auto isListed = [&](int at) { return quantity->itemData(at).toString() == titles[std::size_t(at)].second; };
    bool isSame = quantity->count() == int(titles.size());
    for (int at = 0; isSame && at < quantity->count(); ++at)
        isSame = isListed(at);
    if (isSame)
        return; // a list that is open stays
    const QString chosen = quantity->currentData().toString();
    quantity->clear();
    for (const auto &[title, name] : titles)
        quantity->addItem(title, name);
    quantity->setCurrentIndex(std::max(0, quantity->findData(chosen)));
}

void RunPage::showQuantity()
{
    const QString name = quantity->currentData().toString();
    otherPlot->setCurves(m_runs.overlay(), name.toStdString(), m_runs.referenceCurves());
}

QString RunPage::toTsv() const
{
    return m_runs.overlay() ? differenceText(*m_runs.overlay(), u'\t') : QString();
}

void RunPage::saveCsv()
{
    FileTarget *target = FileTarget::of(this);
    if (!target || !m_runs.overlay())
        return;
    const QByteArray csv = differenceText(*m_runs.overlay(), u',').toUtf8(); // as it is now, not after the dialog
    const QString path = target->ask(tr("Export: plan against run"), tr("plan-against-run") + QStringLiteral(".csv"),
        QStringLiteral(".csv"), tr("Comma-separated values (*.csv)"));
    if (!path.isEmpty())
        target->write(tr("Differences"), path, csv);
}

} // namespace trainyard
