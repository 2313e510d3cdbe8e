// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/layer/layer_page.h"

#include "views/layer/layer_canvas.h"
#include "views/layer/layer_text.h"
#include "views/panels/card.h"
#include "views/parts/panel_parts.h"
#include "views/theme/theme.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QPushButton>
#include <QScrollArea>
#include <QShortcut>
#include <QTabBar>
#include <QVBoxLayout>

namespace trainyard {

namespace {

constexpr int kMostFacts = 7, kExchangeGap = 22, kSelectionWidth = 340;

void clear(QLayout &layout)
{
    while (QLayoutItem *item = layout.takeAt(0)) {
        delete item->widget();
        delete item;
    }
}

TextLine *line(const QString &text, Ink ink, int size, QFont::Weight weight = QFont::Normal)
{
    auto *made = new TextLine(text, ink);
    made->setFont(uiFont(size, weight));
    return made;
}

const LayerChart &chartOf(const OpenedLayer &layer, LayerPass pass)
{
    return pass == LayerPass::Pair ? *layer.pair : pass == LayerPass::Backward ? layer.backward : layer.forward;
}

LayerTimes timesOf(const OpenedLayer &layer, LayerPass pass)
{
    return pass == LayerPass::Pair    ? layer.pairTimes
        : pass == LayerPass::Backward ? layer.layer.backwardTimes
                                      : layer.layer.forwardTimes;
}

} // namespace

LayerPage::LayerPage(LayerOpener &opener, QWidget *parent)
    : QWidget(parent)
    , back(new QPushButton(tr("‹ Back to the plan"), this))
    , passes(new QTabBar(this))
    , canvas(new LayerCanvas)
    , m_opener(opener)
    , m_title(line(tr("An expert layer"), Ink::Text, 3, QFont::DemiBold))
    , m_where(line({}, Ink::Muted, 0))
    , m_choice(line({}, Ink::Muted, 0))
    , m_message(line({}, Ink::Muted, 1))
    , m_selectedTitle(line({}, Ink::Text, 0, QFont::DemiBold))
    , m_content(new QWidget(this))
    , m_figures(new QWidget)
    , m_exchanges(new QWidget)
    , m_figureRow(new QHBoxLayout(m_figures))
    , m_exchangeGrid(new QGridLayout(m_exchanges))
{
    back->setToolTip(tr("Esc"));
    back->setProperty("isFlat", true);
    m_message->setAlignment(Qt::AlignCenter);
    m_message->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding); // else the row above takes the room
    m_choice->setWrapped(true);
    passes->setDrawBase(false);
    passes->setExpanding(false);
    passes->setAccessibleName(tr("Pass"));
    for (const QString &name : { tr("Forward"), tr("Backward"), tr("Both at once") })
        passes->addTab(name);
    for (int i = 0; i < kMostFacts; ++i)
        m_facts.push_back(line({}, Ink::Muted, -1));
    arrange();
    connect(back, &QPushButton::clicked, this, &LayerPage::closed);
    connect(passes, &QTabBar::currentChanged, this, [this](int tab) {
        if (tab != int(m_pass))
            showPass(LayerPass(tab));
    });
    connect(canvas, &LayerCanvas::selectionChanged, this, &LayerPage::showSelection);
    connect(&opener, &LayerOpener::layerOpened, this, &LayerPage::take);
    connect(&opener, &LayerOpener::layerFailed, this, &LayerPage::say);
    auto *escape = new QShortcut(QKeySequence(Qt::Key_Escape), this, nullptr, nullptr, Qt::WidgetWithChildrenShortcut);
    connect(escape, &QShortcut::activated, this, &LayerPage::closed);
    say(tr("Opening the layer…"));
}

void LayerPage::arrange()
{
    auto *head = new QHBoxLayout;
    head->setSpacing(Theme::kGap);
    head->addWidget(back);
    head->addWidget(m_title);
    head->addWidget(m_where, 1);
    head->addWidget(passes);
    m_figureRow->setContentsMargins(Theme::kPad, 6, Theme::kPad, 6);
    m_figureRow->setSpacing(28);
    auto *about = new QWidget;
    auto *aboutColumn = new QVBoxLayout(about);
    aboutColumn->setContentsMargins(0, 0, 0, 6);
    aboutColumn->setSpacing(0);
    aboutColumn->addWidget(m_figures);
    auto *choiceRow = new QHBoxLayout;
    choiceRow->setContentsMargins(Theme::kPad, 0, Theme::kPad, 0);
    choiceRow->addWidget(m_choice, 1);
    aboutColumn->addLayout(choiceRow);

    auto *scroll = new QScrollArea;
    scroll->setWidget(canvas);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFocusPolicy(Qt::NoFocus);
    scroll->viewport()->setAutoFillBackground(false);
    canvas->setAutoFillBackground(false);

    m_exchangeGrid->setContentsMargins(Theme::kPad, Theme::kPad, Theme::kPad, Theme::kPad);
    m_exchangeGrid->setHorizontalSpacing(kExchangeGap);
    m_exchangeGrid->setVerticalSpacing(4);
    auto *selection = new QWidget;
    selection->setFixedWidth(kSelectionWidth);
    auto *facts = new QVBoxLayout(selection);
    facts->setContentsMargins(Theme::kPad, Theme::kPad, Theme::kPad, Theme::kPad);
    facts->setSpacing(2);
    facts->addWidget(m_selectedTitle);
    for (TextLine *fact : m_facts)
        facts->addWidget(fact);
    facts->addStretch(1);
    auto *below = new QHBoxLayout;
    below->setSpacing(Theme::kGap);
    below->addWidget(new Card(m_exchanges), 1);
    below->addWidget(new Card(selection));

    auto *column = new QVBoxLayout(m_content);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(Theme::kGap);
    column->addWidget(new Card(about));
    column->addWidget(new Card(scroll), 1);
    column->addLayout(below);

    auto *page = new QVBoxLayout(this);
    page->setContentsMargins(Theme::kGap, 0, Theme::kGap, Theme::kGap);
    page->setSpacing(Theme::kGap);
    page->addLayout(head);
    page->addWidget(m_content, 1);
    page->addWidget(m_message, 1);
}

bool LayerPage::has(LayerPass pass) const
{
    return m_layer && (pass != LayerPass::Pair || m_layer->pair);
}

void LayerPage::showPass(LayerPass pass)
{
    m_wanted = pass;
    renew();
}

void LayerPage::take(const OpenedLayerPtr &layer)
{
    m_layer = layer;
    if (!layer)
        return say(tr("There is no layer of experts to open: the model has none, or its times are measured ones."));
    m_message->hide();
    m_content->show();
    passes->show();
    passes->setTabVisible(int(LayerPass::Pair), layer->pair.has_value());
    passes->updateGeometry(); // a tab that is not there takes no room
    renew();
    canvas->setFocus(Qt::OtherFocusReason);
}

void LayerPage::say(const QString &message)
{
    m_layer = nullptr;
    m_content->hide();
    passes->hide();
    m_where->setText({});
    m_message->setText(message);
    m_message->show();
}

void LayerPage::renew()
{
    if (!m_layer)
        return;
    m_pass = has(m_wanted) ? m_wanted : LayerPass::Forward;
    passes->setCurrentIndex(int(m_pass));
    m_where->setText(layerWhere(m_layer->layer));
    m_choice->setText(layerChoice(m_layer->layer));
    clear(*m_figureRow);
    for (const LayerFigure &figure : layerFigures(timesOf(*m_layer, m_pass))) {
        auto *cell = new QWidget;
        auto *column = new QVBoxLayout(cell);
        column->setContentsMargins(0, 0, 0, 0);
        column->setSpacing(0);
        column->addWidget(line(figure.name, Ink::Muted, -1));
        column->addWidget(line(figure.value, figure.isWarning ? Ink::Warning : Ink::Text, 4, QFont::DemiBold));
        column->addWidget(line(figure.note, Ink::Faint, -2));
        m_figureRow->addWidget(cell);
    }
    m_figureRow->addStretch(1);
    const LayerChart &chart = chartOf(*m_layer, m_pass);
    showExchanges(chart);
    canvas->setChart(chart);
}

void LayerPage::showExchanges(const LayerChart &chart)
{
    clear(*m_exchangeGrid);
    const ExchangeTable table = exchangeTable(chart);
    if (table.lines.empty())
        m_exchangeGrid->addWidget(line(tr("Tokens stay where they are: no exchange."), Ink::Muted, 0), 0, 0);
    else
        for (int column = 0; column < int(table.heads.size()); ++column)
            m_exchangeGrid->addWidget(line(table.heads[column], Ink::Muted, -1), 0, column);
    for (int row = 0; row < int(table.lines.size()); ++row)
        for (int column = 0; column < int(table.lines[std::size_t(row)].size()); ++column)
            m_exchangeGrid->addWidget(
                line(table.lines[std::size_t(row)][column], column == 0 ? Ink::Text : Ink::Muted, 0), row + 1, column);
    m_exchangeGrid->setRowStretch(int(table.lines.size()) + 1, 1);
    m_exchangeGrid->setColumnStretch(int(table.heads.size()), 1);
}

void LayerPage::showSelection()
{
    const auto span = canvas->selected();
    const QStringList facts = span ? layerSpanFacts(canvas->chart(), *span)
                                   : QStringList { tr("Click a span, or step through them with the arrow keys."),
                                         tr("Ctrl and the wheel zoom, a drag pans, Home shows all.") };
    m_selectedTitle->setText(span ? layerSpanTitle(canvas->chart(), *span) : tr("Nothing is selected"));
    for (std::size_t i = 0; i < m_facts.size(); ++i) {
        m_facts[i]->setVisible(qsizetype(i) < facts.size());
        m_facts[i]->setText(facts.value(qsizetype(i)));
    }
}

QString LayerPage::text() const
{
    QStringList lines;
    for (const TextLine *said : findChildren<TextLine *>())
        if (said->isVisibleTo(this) && !said->text().isEmpty())
            lines << said->text();
    return lines.join(u'\n');
}

void LayerPage::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    if (!m_layer)
        say(tr("Opening the layer…"));
    m_opener.setWatched(true);
    canvas->setFocus(Qt::OtherFocusReason);
}

void LayerPage::hideEvent(QHideEvent *event)
{
    QWidget::hideEvent(event);
    m_opener.setWatched(false);
}

} // namespace trainyard
