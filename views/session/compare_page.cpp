// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/session/compare_page.h"

#include "models/loaded_runs.h"
#include "models/session/map_changes.h"
#include "models/session/pair_tables.h"
#include "models/session/session_document.h"
#include "models/shown.h"
#include "models/text/foreign_text.h"
#include "models/text/format.h"
#include "models/validation/text_table_model.h"
#include "views/panels/card.h"
#include "views/panels/evidence_table.h"
#include "views/parts/page_head.h"
#include "views/session/all_numbers.h"
#include "views/session/compare_sides.h"
#include "views/session/marked_map.h"
#include "views/session/pair_overlays.h"
#include "views/session/run_comparison_view.h"
#include "views/session/variant_color.h"
#include "views/theme/theme.h"
#include "views/timeline/timeline_view.h"

#include <QCheckBox>
#include <QComboBox>
#include <QPushButton>
#include <QShortcut>
#include <QSplitter>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace trainyard {

namespace {

constexpr int kLeastHeight = 320;

QWidget *named(TextLine *name, QWidget *content)
{
    auto *both = new QWidget;
    auto *column = new QVBoxLayout(both);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    column->addWidget(name);
    column->addWidget(content, 1);
    return both;
}

} // namespace

ComparePage::ComparePage(SessionDocument &session, LoadedRuns &runs, const Catalogue &catalogue, QWidget *parent)
    : QWidget(parent)
    , back(new QPushButton(tr("‹ Back to the board"), this))
    , swap(new QPushButton(tr("⇄"), this))
    , before(new QComboBox(this))
    , after(new QComboBox(this))
    , locked(new QCheckBox(tr("One axis"), this))
    , range(new QCheckBox(tr("Only what is in view"), this))
    , upper(new TimelineView)
    , lower(new TimelineView)
    , numbers(new EvidenceTable(tr("Numbers of both"), 0))
    , spans(new EvidenceTable(tr("Differences of the timelines"), 0))
    , words(new EvidenceTable(tr("What differs between the plans"), 0))
    , everyone(new AllNumbers(session, catalogue))
    , upperMap(new MarkedMap)
    , lowerMap(new MarkedMap)
    , m_session(session)
    , m_runs(runs)
    , m_catalogue(catalogue)
    , m_bodies(new QStackedWidget)
    , m_title(new TextLine(tr("Compare"), Ink::Text, this))
    , m_verdict(new TextLine({}, Ink::Text, this))
    , m_upperName(new TextLine)
    , m_lowerName(new TextLine)
    , m_numbersModel(new TextTableModel(this))
    , m_spansModel(new TextTableModel(this))
    , m_wordsModel(new TextTableModel(this))
    , m_tabs(new TabbedCard(tr("What differs")))
    , m_comparison(catalogue)
{
    setAccessibleName(tr("Compare"));
    setFocusPolicy(Qt::ClickFocus);
    setMinimumHeight(kLeastHeight); // on a small screen the parts overlap before the window does
    arrange();
    wire();
    connect(&m_session, &SessionDocument::changed, this, &ComparePage::renameSides); // once the lists are filled
}

void ComparePage::arrange()
{
    swap->setToolTip(tr("The other way round"));
    swap->setAccessibleName(tr("The other way round"));
    before->setAccessibleName(tr("The variant or run that is compared with"));
    after->setAccessibleName(tr("The variant or run that is compared"));
    locked->setChecked(true);
    locked->setToolTip(tr("Both timelines have one axis: zoom and pan move both."));
    range->setToolTip(tr("Differences are of the part of the upper timeline that is in view."));
    for (TimelineView *view : { upper, lower })
        view->setAutoFillBackground(false);
    numbers->setModel(m_numbersModel);
    spans->setModel(m_spansModel);
    words->setModel(m_wordsModel);
    auto *maps = splitter(Qt::Horizontal, tr("Maps"), nullptr);
    maps->addWidget(upperMap);
    maps->addWidget(lowerMap);
    m_tabs->addTab(numbers, tr("Numbers"));
    m_tabs->addTab(spans, tr("Timelines"));
    m_tabs->addTab(words, tr("Plans"));
    m_overlays = new PairOverlays(*m_tabs, *upper, *lower, *locked, this);
    m_tabs->addTab(maps, tr("Maps"));
    m_tabs->addTab(everyone, tr("All variants"));
    QSplitter *body = splitter(Qt::Vertical, tr("Both"), this);
    body->addWidget(new Card(named(m_upperName, upper)));
    body->addWidget(new Card(named(m_lowerName, lower)));
    body->addWidget(m_tabs);
    for (int i = 0; i < body->count(); ++i)
        body->setStretchFactor(i, 1);
    QVBoxLayout *column = pageColumn(this, pageHead(back, m_title, m_verdict, { before, swap, after, locked, range }));
    m_bodies->addWidget(body);
    column->addWidget(m_bodies, 1);
}

void ComparePage::wire()
{
    connect(back, &QPushButton::clicked, this, &ComparePage::closed);
    auto *escape = new QShortcut(QKeySequence(Qt::Key_Escape), this, nullptr, nullptr, Qt::WidgetWithChildrenShortcut);
    connect(escape, &QShortcut::activated, this, &ComparePage::closed);
    for (QComboBox *box : { before, after })
        connect(box, &QComboBox::currentIndexChanged, this, [this] {
            if (!m_isFilling)
                ask();
        });
    connect(swap, &QPushButton::clicked, this, [this] {
        const int first = before->currentIndex(), second = after->currentIndex();
        m_isFilling = true;
        before->setCurrentIndex(second);
        after->setCurrentIndex(first);
        m_isFilling = false;
        ask();
    });
    connect(upper, &TimelineView::rangeChanged, this,
        [this](qint64 begin, qint64 end) { follow(upper, lower, begin, end); });
    connect(lower, &TimelineView::rangeChanged, this,
        [this](qint64 begin, qint64 end) { follow(lower, upper, begin, end); });
    connect(upper, &TimelineView::cursorMoved, lower, &TimelineView::showCursor);
    connect(lower, &TimelineView::cursorMoved, upper, &TimelineView::showCursor);
    connect(locked, &QCheckBox::toggled, this, [this](bool isLocked) {
        if (isLocked)
            fitBoth();
        if (m_runView)
            m_runView->setLocked(isLocked);
    });
    connect(range, &QCheckBox::toggled, this, [this](bool isLimited) {
        const TimeInterval seen = upper->visibleRange();
        m_comparison.setWindow(isLimited ? TimeWindow { seen.begin, seen.end } : TimeWindow {});
    });
    connect(spans, &QAbstractItemView::clicked, this, [this](const QModelIndex &index) {
        const ComparedPairPtr &pair = m_comparison.pair();
        if (!pair || !pair->difference.areMatched() || std::size_t(index.row()) >= pair->largest.size())
            return;
        const SpanDifference &span = pair->difference.spans[pair->largest[std::size_t(index.row())]];
        upper->selectSpan(span.before);
        lower->selectSpan(span.after);
        if (span.before != kNoSpan)
            upper->revealSpan(span.before);
        else
            lower->revealSpan(span.after);
    });
    connect(&m_comparison, &PairComparison::pairChanged, this, [this] { show(*m_comparison.pair()); });
    connect(&m_comparison, &PairComparison::underWayChanged, this, [this] {
        for (TimelineView *view : { upper, lower })
            view->setStale(m_comparison.isUnderWay());
        m_overlays->setStale(m_comparison.isUnderWay());
    });
    const auto refill = [this] {
        if (isVisible())
            fillLists();
    };
    connect(&m_session, &SessionDocument::changed, this, refill);
    connect(&m_runs, &LoadedRuns::changed, this, refill);
}

QString ComparePage::verdict() const
{
    return m_verdict->text();
}

void ComparePage::fillLists()
{
    const auto &all = m_session.variants();
    m_isFilling = true;
    for (QComboBox *box : { before, after }) {
        const QString kept = box->currentData().toString();
        box->clear();
        for (int i = 0; i < int(all.size()); ++i)
            box->addItem(variantDot(variantColor(all[std::size_t(i)], i), devicePixelRatioF()),
                foreignText(QString::fromStdString(all[std::size_t(i)].name), 60),
                QString::fromStdString(all[std::size_t(i)].id));
        addRuns(*box, m_runs, devicePixelRatioF());
        box->setCurrentIndex(std::max(0, box->findData(kept)));
    }
    m_isFilling = false;
    ask();
}

void ComparePage::compare(const std::string &first, const std::string &second)
{
    fillLists();
    m_isFilling = true;
    const auto choose = [](QComboBox *box, const std::string &id) {
        if (const int index = box->findData(QString::fromStdString(id)); index >= 0)
            box->setCurrentIndex(index);
    };
    choose(before, first);
    choose(after, second);
    m_isFilling = false;
    ask();
}

void ComparePage::ask()
{
    const auto planOf = [this](const QComboBox *box) {
        const Variant *variant = m_session.value().variant(box->currentData().toString().toStdString());
        return variant ? variant->plan : nullptr;
    };
    if (askForRuns()) {
        m_comparison.setPlans(nullptr, nullptr);
        return;
    }
    m_bodies->setCurrentIndex(0);
    range->setEnabled(true);
    m_upperName->setText(before->currentText());
    m_lowerName->setText(after->currentText());
    m_comparison.setPlans(planOf(before), planOf(after));
}

bool ComparePage::askForRuns()
{
    const ComparedSide first = sideOf(*before, m_session, m_runs), second = sideOf(*after, m_session, m_runs);
    if (!first.run && !second.run)
        return false;
    if (!m_runView) {
        m_runView = new RunComparisonView(m_catalogue);
        m_runView->setLocked(locked->isChecked());
        m_bodies->addWidget(m_runView);
        connect(m_runView, &RunComparisonView::verdictChanged, this, &ComparePage::showRunVerdict);
        connect(
            m_runView, &RunComparisonView::stepChosen, this, [this](bool isAfter, std::optional<std::int64_t> number) {
                m_runs.setStep(idOfRun(*(isAfter ? after : before)), number);
            });
    }
    m_bodies->setCurrentWidget(m_runView);
    range->setEnabled(false); // a run is compared whole, step by step
    m_runView->setSides(first, second);
    showRunVerdict();
    return true;
}

/// Nothing while it is of other sides.
void ComparePage::showRunVerdict()
{
    if (m_bodies->currentWidget() != m_runView)
        return;
    m_verdict->setText(m_runView->verdict());
    m_verdict->setInk(m_runView->isRefused() ? Ink::Warning : Ink::Text);
}

void ComparePage::follow(TimelineView *from, TimelineView *to, qint64 begin, qint64 end)
{
    if (from == upper && range->isChecked())
        m_comparison.setWindow({ begin, end });
    if (!locked->isChecked() || std::exchange(m_isFollowing, true))
        return;
    to->setVisibleRange(begin, end);
    m_isFollowing = false;
}

/// The longer of both iterations in both.
void ComparePage::fitBoth()
{
    const ComparedPairPtr &pair = m_comparison.pair();
    if (!pair)
        return;
    const Nanoseconds end = std::max(pair->difference.durationBefore, pair->difference.durationAfter);
    if (end <= 0)
        return;
    m_isFollowing = true;
    for (TimelineView *view : { upper, lower })
        view->setVisibleRange(0, end);
    m_isFollowing = false;
}

/// As it is drawn over the other.
PairSide ComparePage::pairSideOf(const QComboBox *box, const EvaluationPtr &evaluation) const
{
    const auto &all = m_session.variants();
    const auto found = std::ranges::find(all, box->currentData().toString().toStdString(), &Variant::id);
    return { evaluation, box->currentText(),
        found == all.end() ? theme().accent : variantColor(*found, int(found - all.begin())) };
}

/// Names and colours may be others while the plans are the same.
void ComparePage::renameSides()
{
    const ComparedPairPtr &pair = m_comparison.pair();
    const auto isChosen = [this](const QComboBox *box, const EvaluationPtr &evaluation) {
        const Variant *variant = m_session.value().variant(box->currentData().toString().toStdString());
        return variant && evaluation && variant->plan == evaluation->plan;
    };
    if (isVisible() && pair && isChosen(before, pair->before) && isChosen(after, pair->after))
        showSides(*pair);
}

void ComparePage::showSides(const ComparedPair &pair)
{
    const PairSide first = pairSideOf(before, pair.before), second = pairSideOf(after, pair.after);
    m_overlays->setPair(first, second);
    if (first.evaluation)
        upperMap->setShown(shownOf(first.evaluation), first.name, first.color);
    if (second.evaluation)
        lowerMap->setShown(shownOf(second.evaluation), second.name, second.color);
    const bool areBoth = first.evaluation && second.evaluation;
    const MapChanges changes = areBoth ? mapChanges(*first.evaluation, *second.evaluation) : MapChanges();
    for (MarkedMap *map : { upperMap, lowerMap })
        map->setChanges(changes);
}

void ComparePage::show(const ComparedPair &pair)
{
    const bool isOther = pair.before != upper->evaluation() || pair.after != lower->evaluation();
    if (isOther) {
        m_isFollowing = true;
        // Each has the other as its ghost, so that both have room for the longer one.
        upper->setEvaluation(pair.before, pair.after);
        lower->setEvaluation(pair.after, pair.before);
        m_isFollowing = false;
        showSides(pair);
        if (locked->isChecked())
            fitBoth();
    }
    if (!pair.before || !pair.after) {
        m_verdict->setText(pair.errors.empty() ? tr("One of them cannot be evaluated.")
                                               : QString::fromStdString(toString(pair.errors.front())));
        m_verdict->setInk(Ink::Bad);
        for (TextTableModel *model : { m_numbersModel, m_spansModel })
            model->setTable({});
    } else {
        m_numbersModel->setTable(numbersOf(pair, before->currentText(), after->currentText()));
        m_verdict->setInk(Ink::Text);
        m_verdict->setText(verdictOf(pair));
        showSpans(pair);
    }
    TextRows rows { { tr("The second plan, beside the first") }, {} };
    for (const QString &line : pair.words)
        rows.lines.push_back({ { line }, Tone::Plain, -1, line });
    if (rows.lines.empty())
        rows.lines.push_back({ { tr("Nothing: the plans are equal.") }, Tone::Muted, -1, {} });
    m_wordsModel->setTable(std::move(rows));
}

void ComparePage::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    m_comparison.setWatched(true);
    fillLists();
    renameSides();
}

void ComparePage::hideEvent(QHideEvent *event)
{
    m_comparison.setWatched(false);
    QWidget::hideEvent(event);
}

} // namespace trainyard
