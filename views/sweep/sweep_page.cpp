// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/sweep/sweep_page.h"

#include "models/text/foreign_text.h"
#include "models/text/format.h"
#include "views/export/panel_menu.h"
#include "views/export/panel_picture.h"
#include "views/panels/card.h"
#include "views/parts/page_head.h"
#include "views/parts/text_line.h"
#include "views/sweep/parallel_axes.h"
#include "views/sweep/sweep_scatter.h"
#include "views/theme/theme.h"

#include <QComboBox>
#include <QEvent>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QShortcut>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr double kSamePrice = 1.02; // most over least, of price per hour
constexpr int kNameLength = 24; // characters
constexpr std::size_t kFirstAxes = 9; // more can be had no room at 1280 pixels

QLabel *nameOf(const QString &text, QWidget *buddy)
{
    auto *label = new QLabel(text);
    label->setBuddy(buddy);
    return label;
}

} // namespace

SweepPage::SweepPage(SweepResults &results, QWidget *parent)
    : QWidget(parent)
    , back(new QPushButton(tr("‹ Back to the plan"), this))
    , open(new QPushButton(tr("Open…"), this))
    , clear(new QPushButton(tr("Clear the filter"), this))
    , tryIt(new QPushButton(tr("Try this plan"), this))
    , picture(new QToolButton(this))
    , x(new QComboBox(this))
    , y(new QComboBox(this))
    , color(new QComboBox(this))
    , scatter(new SweepScatter(results))
    , axes(new ParallelAxes(results))
    , m_results(results)
    , m_title(new TextLine(tr("Sweep"), Ink::Text, this))
    , m_file(new TextLine({}, Ink::Muted, this))
    , m_result(new TextLine({}, Ink::Text, this))
    , m_shown(new TextLine({}, Ink::Muted, this))
    , m_row(new TextLine({}, Ink::Text, this))
    , m_empty(new TextLine({}, Ink::Muted, this))
    , m_legend(new QLabel(this))
    , m_body(new QWidget(this))
    , m_nothing(new Card(m_empty, this))
{
    setAccessibleName(tr("Sweep"));
    setFocusPolicy(Qt::ClickFocus);
    arrange();
    wire();
    fill();
}

void SweepPage::arrange()
{
    dressPictureButton(picture);
    m_result->setFont(uiFont(1));
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWrapped(true);
    x->setAccessibleName(tr("Across"));
    y->setAccessibleName(tr("Upwards"));
    color->setAccessibleName(tr("Colour of lines"));
    for (QComboBox *box : { x, y, color }) { // names of keys may be long
        box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
        box->setMinimumContentsLength(kNameLength);
    }
    auto *top = pageHead(back, m_title, m_file, { open, picture });
    auto *points = new QWidget;
    auto *upper = new QVBoxLayout(points);
    upper->setContentsMargins(Theme::kPad, Theme::kGap, Theme::kPad, 4);
    auto *choices = new QHBoxLayout;
    choices->setSpacing(Theme::kGap);
    choices->addWidget(nameOf(tr("Upwards"), y));
    choices->addWidget(y);
    choices->addWidget(nameOf(tr("across"), x));
    choices->addWidget(x);
    choices->addStretch(1);
    m_legend->setFont(uiFont(-1));
    m_legend->setTextFormat(Qt::RichText);
    nameMarks();
    choices->addWidget(m_legend);
    upper->addLayout(choices);
    upper->addWidget(scatter, 1);
    auto *chosen = new QHBoxLayout;
    m_row->setWrapped(true);
    chosen->addWidget(m_row, 1);
    chosen->addWidget(tryIt);
    upper->addLayout(chosen);
    auto *lines = new QWidget;
    auto *lower = new QVBoxLayout(lines);
    lower->setContentsMargins(Theme::kPad, Theme::kGap, Theme::kPad, 4);
    auto *filter = new QHBoxLayout;
    filter->setSpacing(Theme::kGap);
    filter->addWidget(nameOf(tr("Colour"), color));
    filter->addWidget(color);
    filter->addWidget(m_shown, 1);
    filter->addWidget(clear);
    lower->addLayout(filter);
    lower->addWidget(axes, 1);
    auto *parts = new QSplitter(Qt::Vertical);
    parts->addWidget(new Card(points));
    parts->addWidget(new Card(lines));
    parts->setStretchFactor(0, 55);
    parts->setStretchFactor(1, 45);
    parts->setChildrenCollapsible(false);
    auto *body = new QVBoxLayout(m_body);
    body->setContentsMargins(0, 0, 0, 0);
    body->setSpacing(4);
    body->addWidget(m_result);
    body->addWidget(parts, 1);
    auto *column = pageColumn(this, top);
    column->addWidget(m_nothing, 1);
    column->addWidget(m_body, 1);
}

/// Marks in the colours that the points have.
void SweepPage::nameMarks()
{
    const auto mark = [](const QString &sign, const QColor &ink, const QString &name) {
        return QStringLiteral("<span style='color:%1'>%2</span>&nbsp;%3").arg(ink.name(), sign, name);
    };
    const QStringList marks { mark(QStringLiteral("●"), theme().accent, tr("feasible")),
        mark(QStringLiteral("○"), theme().warning, tr("infeasible")),
        mark(QStringLiteral("×"), theme().textFaint, tr("refused")),
        mark(QStringLiteral("◆"), theme().good, tr("front")) };
    m_legend->setText(marks.join(QStringLiteral("&nbsp;&nbsp; ")));
}

void SweepPage::changeEvent(QEvent *event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        nameMarks();
}

void SweepPage::wire()
{
    auto *menu = new QMenu(picture);
    connect(menu, &QMenu::aboutToShow, this, [this, menu] {
        menu->clear();
        addPictureActions(*menu, m_body, tr("sweep"));
    });
    picture->setMenu(menu);
    setPanelTable(m_body, [this] { return toTsv(); });
    connect(back, &QPushButton::clicked, this, &SweepPage::closed);
    connect(open, &QPushButton::clicked, this, &SweepPage::openRequested);
    connect(clear, &QPushButton::clicked, axes, &ParallelAxes::clearBrushes);
    connect(tryIt, &QPushButton::clicked, this, [this] { Q_EMIT tryRequested(current()); });
    for (QComboBox *box : { x, y, color })
        connect(box, &QComboBox::currentIndexChanged, this, [this] {
            if (!m_isFilling)
                showColumns();
        });
    connect(scatter, &SweepScatter::pointChosen, this, &SweepPage::choose);
    connect(scatter, &SweepScatter::pointActivated, this, [this](int row) {
        choose(row);
        Q_EMIT tryRequested(row);
    });
    connect(axes, &ParallelAxes::filterChanged, this, &SweepPage::showFilter);
    connect(&m_results, &SweepResults::opened, this, &SweepPage::fill);
    auto *escape = new QShortcut(QKeySequence(Qt::Key_Escape), this, nullptr, nullptr, Qt::WidgetWithChildrenShortcut);
    connect(escape, &QShortcut::activated, this, &SweepPage::closed);
}

void SweepPage::fill()
{
    const bool has = m_results.rows() > 0;
    m_body->setVisible(has);
    m_nothing->setVisible(!has);
    m_file->setText(m_results.table() ? fileText(QString::fromStdString(m_results.table()->path)) : QString());
    m_result->setText(m_results.summary());
    m_empty->setText(m_results.table() && !has
            ? tr("%1.\nIts rows are still to be written: open it again then.").arg(m_results.summary())
            : tr("A file of rows that trainyard-cli sweep wrote opens here: File ▸ Open, or drop it on the window."));
    scatter->setColumns(-1, -1); // of another file
    axes->setAxes({});
    choose(-1);
    m_isFilling = true;
    for (QComboBox *box : { x, y, color })
        box->clear();
    color->addItem(tr("can it run"));
    for (const SweepColumn &column : m_results.columns())
        for (QComboBox *box : { x, y, color })
            box->addItem(column.label);
    const auto start = [this](QComboBox *box, std::initializer_list<const char *> wanted) {
        for (const char *key : wanted)
            if (const int at = m_results.column(key); at >= 0)
                return box->setCurrentIndex(at);
    };
    start(x, { "iteration_time_s", "jobs.makespan_s" });
    // A price per hour that is always the same makes cost the time again.
    const int hourly = m_results.column("cost.usd_per_hour");
    const bool isPriceOpen = hourly >= 0
        && m_results.columns()[std::size_t(hourly)].most > kSamePrice * m_results.columns()[std::size_t(hourly)].least;
    y->setCurrentIndex(std::min(1, y->count() - 1)); // another than that across
    start(y, { "memory.fill", "jobs.usd" });
    if (isPriceOpen)
        start(y, { "cost.usd_per_million_tokens" });
    m_isFilling = false;
    if (!has)
        return;
    std::vector<int> shown;
    for (int i = 0; i < int(m_results.columns().size()); ++i)
        if (m_results.columns()[std::size_t(i)].isVaried && shown.size() + 3 < kFirstAxes)
            shown.push_back(i);
    for (const char *key : { "iteration_time_s", "memory.fill", "cost.usd_per_million_tokens", "jobs.makespan_s" })
        if (const int at = m_results.column(key); at >= 0 && shown.size() < kFirstAxes)
            shown.push_back(at);
    axes->setAxes(shown);
    showColumns();
}

void SweepPage::showColumns()
{
    scatter->setColumns(x->currentIndex(), y->currentIndex());
    axes->setColorColumn(color->currentIndex() - 1);
}

void SweepPage::showFilter()
{
    const std::vector<char> shown = axes->within();
    clear->setEnabled(!shown.empty());
    const qint64 in = shown.empty() ? qint64(m_results.rows()) : std::ranges::count(shown, char(1));
    QString text = shown.empty() ? tr("Drag along an axis to filter, drag a name to move it")
                                 : tr("%1 within the filter").arg(countOf(in, tr("row"), tr("rows")));
    if (m_results.rows() > ParallelAxes::kMostLines)
        text +=
            (m_results.feasible() <= ParallelAxes::kMostLines ? tr("; of rows that cannot run one line in %1 is drawn")
                                                              : tr("; one line in %1 is drawn"))
                .arg((m_results.rows() - 1) / ParallelAxes::kMostLines + 1);
    m_shown->setText(text);
    scatter->setShown(shown);
}

void SweepPage::choose(int row)
{
    scatter->setCurrent(row);
    axes->setCurrent(row);
    tryIt->setEnabled(row >= 0 && m_results.state(std::size_t(row)) != SweepState::Refused);
    if (row < 0) {
        m_row->setText(tr("Click a point to see what it is, double-click it to try its plan"));
        return;
    }
    const std::string &reason = m_results.table()->reason(std::size_t(row));
    m_row->setText(tr("Row %1: %2").arg(row).arg(m_results.valuesText(std::size_t(row)))
        + (reason.empty() ? QString() : QStringLiteral(". ") + QString::fromStdString(reason)));
}

int SweepPage::current() const
{
    return scatter->current();
}

QString SweepPage::resultLine() const
{
    return m_result->text();
}

QString SweepPage::emptyLine() const
{
    return m_empty->text();
}

QString SweepPage::shownLine() const
{
    return m_shown->text();
}

QString SweepPage::rowLine() const
{
    return m_row->text();
}

/// The rows that are within the filter.
QString SweepPage::toTsv() const
{
    QStringList lines, names { tr("Row"), tr("State") };
    for (const SweepColumn &column : m_results.columns())
        names << column.label;
    lines << names.join(u'\t');
    const std::vector<char> shown = axes->within();
    for (std::size_t row = 0; row < m_results.rows(); ++row) {
        if (!shown.empty() && !shown[row])
            continue;
        const SweepState state = m_results.state(row);
        QStringList cells { QString::number(row),
            state == SweepState::Feasible         ? tr("feasible")
                : state == SweepState::Infeasible ? tr("infeasible")
                                                  : tr("refused") };
        for (const SweepColumn &column : m_results.columns())
            cells << column.textOf(column.values[row]);
        lines << cells.join(u'\t');
    }
    return lines.join(u'\n');
}

} // namespace trainyard
