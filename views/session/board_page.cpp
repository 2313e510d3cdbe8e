// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/session/board_page.h"

#include "models/session/session_document.h"
#include "models/session/variant_figures.h"
#include "models/session/variant_words.h"
#include "models/text/foreign_text.h"
#include "views/cluster/cluster_map.h"
#include "views/parts/page_head.h"
#include "views/parts/panel_parts.h"
#include "views/parts/scrolled.h"
#include "views/session/variant_card.h"
#include "views/session/variant_color.h"
#include "views/theme/theme.h"

#include <QDateTime>
#include <QEvent>
#include <QGridLayout>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QShortcut>
#include <QSplitter>
#include <QToolButton>

#include <algorithm>

namespace trainyard {

namespace {

constexpr int kMostWords = 5; // differences on a card
constexpr QSize kMapSize(792, 396), kThumbnail(264, 132);
constexpr int kDecisionsWidth = 300, kMapHeading = 36; // pixels

} // namespace

BoardPage::BoardPage(SessionDocument &session, VariantFigures &figures, QWidget *parent)
    : QWidget(parent)
    , back(new QPushButton(tr("‹ Back to the plan"), this))
    , branch(new QPushButton(tr("+ Variant"), this))
    , compare(new QPushButton(tr("Compare…"), this))
    , save(new QPushButton(tr("Save the session"), this))
    , decision(new QLineEdit)
    , decisions(new QListWidget)
    , m_session(session)
    , m_figures(figures)
    , m_title(new TextLine(tr("Variants"), Ink::Text, this))
    , m_about(new TextLine({}, Ink::Muted, this))
    , m_cards(new QWidget)
    , m_grid(new QGridLayout(m_cards))
    , m_area(scrolled(m_cards))
{
    setAccessibleName(tr("Variants"));
    setFocusPolicy(Qt::ClickFocus);
    arrange();
    connect(back, &QPushButton::clicked, this, &BoardPage::closed);
    connect(branch, &QPushButton::clicked, this, &BoardPage::branchRequested);
    connect(save, &QPushButton::clicked, this, &BoardPage::saveRequested);
    connect(compare, &QPushButton::clicked, this, [this] { emit compareRequested({}); });
    connect(decision, &QLineEdit::returnPressed, this, &BoardPage::decide);
    auto *escape = new QShortcut(QKeySequence(Qt::Key_Escape), this, nullptr, nullptr, Qt::WidgetWithChildrenShortcut);
    connect(escape, &QShortcut::activated, this, &BoardPage::closed);
    auto *remove = new QShortcut(QKeySequence(Qt::Key_Delete), decisions, nullptr, nullptr, Qt::WidgetShortcut);
    connect(remove, &QShortcut::activated, this, [this] {
        if (decisions->currentRow() >= 0)
            m_session.removeDecision(std::size_t(decisions->currentRow()));
    });
    connect(&session, &SessionDocument::changed, this, [this] {
        if (isVisible())
            fill();
    });
    connect(&figures, &VariantFigures::figuresChanged, this, [this] {
        if (isVisible())
            refresh();
    });
}

BoardPage::~BoardPage() = default;

void BoardPage::arrange()
{
    branch->setToolTip(tr("A copy of the plan that is shown becomes a variant of its own."));
    decision->setPlaceholderText(tr("What is decided, and why: “B, because …” Enter"));
    decision->setAccessibleName(tr("Decision"));
    decisions->setAccessibleName(tr("Decisions"));
    decisions->setWordWrap(true);
    decisions->setToolTip(tr("Del takes a decision back."));
    m_grid->setContentsMargins(0, 0, 0, 0);
    m_grid->setSpacing(Theme::kGap);
    m_area->viewport()->installEventFilter(this);
    auto *log = new QWidget;
    auto *logColumn = new QVBoxLayout(log);
    logColumn->setContentsMargins(0, 0, 0, 0);
    logColumn->setSpacing(Theme::kGap);
    logColumn->addWidget(new PanelHeading(tr("Decisions"), tr("oldest first")));
    logColumn->addWidget(decisions, 1);
    logColumn->addWidget(decision);
    QSplitter *body = splitter(Qt::Horizontal, tr("Board"), this);
    body->addWidget(m_area);
    body->addWidget(log);
    body->setStretchFactor(0, 1);
    body->setStretchFactor(1, 0);
    log->setMinimumWidth(kDecisionsWidth);
    QVBoxLayout *column = pageColumn(this, pageHead(back, m_title, m_about, { branch, compare, save }));
    column->addWidget(body, 1);
}

VariantCard *BoardPage::card(const std::string &id) const
{
    const auto found = m_byId.find(id);
    return found == m_byId.end() ? nullptr : found->second;
}

void BoardPage::commitTyped()
{
    if (QWidget *field = focusWidget(); field && isAncestorOf(field))
        field->clearFocus();
}

void BoardPage::addCard(const std::string &id)
{
    auto *card = new VariantCard(m_cards);
    m_byId.emplace(id, card);
    auto *menu = new QMenu(card->more);
    card->more->setMenu(menu);
    connect(menu, &QMenu::aboutToShow, this, [this, id] { fillMenu(id); });
    connect(card, &VariantCard::renamed, this, [this, id](const QString &name) { m_session.rename(id, name); });
    connect(card, &VariantCard::noted, this, [this, id](const QString &note) { m_session.setNote(id, note); });
    connect(card, &VariantCard::chosen, this, [this, id] { m_session.show(id); });
    connect(card->compare, &QPushButton::clicked, this, [this, id] { emit compareRequested(id); });
    connect(card->color, &QToolButton::clicked, this, [this, id] {
        const auto &all = m_session.variants();
        const auto place = std::ranges::find(all, id, &Variant::id) - all.begin();
        m_session.setColor(id, nextVariantColor(variantColor(all[std::size_t(place)], int(place))));
    });
}

void BoardPage::fillMenu(const std::string &id)
{
    QMenu *menu = card(id)->more->menu();
    menu->clear();
    const auto &all = m_session.variants();
    const int place = int(std::ranges::find(all, id, &Variant::id) - all.begin());
    const bool isBaseline = m_session.value().baseline == id;
    const auto add = [&](const QString &text, auto run, bool isEnabled = true) {
        QAction *action = menu->addAction(text);
        action->setEnabled(isEnabled);
        connect(action, &QAction::triggered, this, run);
    };
    add(isBaseline ? tr("No longer the baseline") : tr("Make it the baseline"),
        [this, id, isBaseline] { m_session.setBaseline(isBaseline ? std::string() : id); });
    add(tr("Decide for it…"), [this, id] {
        decision->setText(tr("%1, because ").arg(QString::fromStdString(m_session.value().variant(id)->name)));
        decision->setFocus(Qt::OtherFocusReason);
    });
    menu->addSeparator();
    add(
        tr("Earlier on the board"), [this, id, place] { m_session.move(id, place - 1); }, place > 0);
    add(
        tr("Later on the board"), [this, id, place] { m_session.move(id, place + 1); }, place + 1 < int(all.size()));
    menu->addSeparator();
    add(tr("Export its plan…"), [this, id] { emit exportRequested(id); });
    add(
        tr("Remove"), [this, id] { m_session.remove(id); }, all.size() > 1);
    if (m_session.canRestore())
        add(tr("Bring back what was removed"), [this] { m_session.restoreRemoved(); });
}

void BoardPage::fill()
{
    const auto &all = m_session.variants();
    for (auto one = m_byId.begin(); one != m_byId.end();) {
        if (m_session.value().variant(one->first)) {
            ++one;
            continue;
        }
        one->second->hide();
        one->second->deleteLater();
        one = m_byId.erase(one);
    }
    for (const Variant &one : all)
        if (!card(one.id))
            addCard(one.id);
    std::erase_if(
        m_maps, [&](const auto &map) { return std::ranges::find(all, map.first, &Variant::plan) == all.end(); });
    layCards();
    listDecisions();
    refresh();
}

void BoardPage::layCards()
{
    const auto &all = m_session.variants();
    if (m_byId.size() != all.size())
        return; // before the first time
    while (QLayoutItem *item = m_grid->takeAt(0))
        delete item;
    const int width = m_byId.begin()->second->minimumWidth() + Theme::kGap;
    const int columns = std::max(1, (m_area->viewport()->width() + Theme::kGap) / width);
    for (int i = 0; i < int(all.size()); ++i) {
        VariantCard *one = card(all[std::size_t(i)].id);
        m_grid->addWidget(one, i / columns, i % columns, Qt::AlignLeft | Qt::AlignTop);
        one->setVisible(true);
    }
    m_grid->setColumnStretch(columns, 1);
    m_grid->setRowStretch(int(all.size()) / columns + 1, 1);
    QWidget *before = branch;
    for (const Variant &one : all) { // the keyboard goes in the order of the board
        setTabOrder(before, card(one.id)->name);
        before = card(one.id)->show;
    }
}

void BoardPage::refresh()
{
    const auto &all = m_session.variants();
    const Variant *baseline = m_session.value().variant(m_session.value().baseline);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const Variant &one = all[i];
        const bool isBaseline = &one == baseline;
        card(one.id)->setFace({ &one, int(i), one.id == m_session.current(), isBaseline, m_figures.of(one.plan),
            baseline ? m_figures.of(baseline->plan) : nullptr,
            baseline && !isBaseline ? differencesInWords(*baseline->plan, *one.plan, kMostWords) : QStringList() });
        card(one.id)->setMap(mapOf(one.plan));
    }
    compare->setEnabled(all.size() > 1);
    m_about->setText(m_session.path().isEmpty() ? tr("not saved as a session") : fileText(m_session.path()));
}

void BoardPage::listDecisions()
{
    const int row = decisions->currentRow();
    decisions->clear();
    for (const Decision &one : m_session.value().decisions) {
        const Variant *variant = m_session.value().variant(one.variant);
        const QDateTime at = QDateTime::fromString(QString::fromStdString(one.at), Qt::ISODate).toLocalTime();
        QString text = foreignText(QString::fromStdString(one.text), 2000);
        if (at.isValid())
            text = at.toString(QStringLiteral("HH:mm  ")) + text;
        auto *item = new QListWidgetItem(text, decisions);
        if (variant) {
            const auto place = variant - m_session.variants().data();
            item->setIcon(variantDot(variantColor(*variant, int(place)), devicePixelRatioF()));
        }
        item->setToolTip(plainTip(at.isValid() ? at.toString(Qt::TextDate) : QString::fromStdString(one.at)));
    }
    decisions->setCurrentRow(std::min(row, decisions->count() - 1));
}

/// The variant whose name a decision begins with is the one that it is about; else the one that is shown.
void BoardPage::decide()
{
    const QString text = decision->text();
    std::string about = m_session.current();
    qsizetype longest = 0;
    for (const Variant &one : m_session.variants()) {
        const QString name = QString::fromStdString(one.name);
        if (text.startsWith(name, Qt::CaseInsensitive) && name.size() > longest) {
            about = one.id;
            longest = name.size();
        }
    }
    m_session.decide(text, about);
    decision->clear();
}

QPixmap BoardPage::mapOf(const std::shared_ptr<const Plan> &plan)
{
    if (const auto known = m_maps.find(plan); known != m_maps.end())
        return known->second;
    if (!m_painter) {
        m_painter = std::make_unique<ClusterMap>();
        m_painter->setAttribute(Qt::WA_DontShowOnScreen);
        m_painter->resize(kMapSize);
    }
    m_painter->setShown(shownOf(plan));
    const qreal ratio = devicePixelRatioF();
    const QRect belowItsHeading(0, kMapHeading, kMapSize.width(), kMapSize.height() - kMapHeading);
    QPixmap map =
        m_painter->grab(belowItsHeading).scaled(kThumbnail * ratio, Qt::KeepAspectRatio, Qt::SmoothTransformation);
    map.setDevicePixelRatio(ratio);
    m_maps.emplace(plan, map);
    return map;
}

bool BoardPage::eventFilter(QObject *watched, QEvent *event)
{
    if (watched == m_area->viewport() && event->type() == QEvent::Resize)
        layCards();
    return QWidget::eventFilter(watched, event);
}

void BoardPage::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    m_figures.setWatched(true);
    fill();
}

void BoardPage::hideEvent(QHideEvent *event)
{
    commitTyped();
    QWidget::hideEvent(event);
}

void BoardPage::changeEvent(QEvent *event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) {
        m_maps.clear();
        if (isVisible())
            refresh();
    }
}

} // namespace trainyard
