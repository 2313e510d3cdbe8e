// SPDX-License-Identifier: GPL-3.0-or-later
// The fields of the sheet that connects to a run, and their places.
#include "views/live/connect_sheet.h"

#include "views/parts/panel_parts.h"
#include "views/parts/scrolled.h"
#include "views/theme/theme.h"

#include <QCheckBox>
#include <QDoubleSpinBox>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRadioButton>
#include <QScrollArea>
#include <QVBoxLayout>

namespace trainyard {

namespace {

constexpr int kMostWidth = 920, kSheetEdge = 24, kNumberWidth = 130, kFieldWidth = 380;

QDoubleSpinBox *numberBox(double least, double most, double value, int decimals, const QString &unit)
{
    auto *box = new QDoubleSpinBox;
    box->setDecimals(decimals);
    box->setRange(least, most);
    box->setValue(value);
    box->setSuffix(unit);
    box->setFixedWidth(kNumberWidth);
    return box;
}

QLineEdit *lineField(const QString &placeholder, bool isSecret = false)
{
    auto *line = new QLineEdit;
    line->setPlaceholderText(placeholder);
    line->setMinimumWidth(kFieldWidth);
    if (isSecret)
        line->setEchoMode(QLineEdit::Password);
    return line;
}

} // namespace

void ConnectSheet::addField(
    ConnectField which, QGridLayout &form, const QString &label, QWidget *field, const QString &hint)
{
    auto *place = new QWidget(this);
    auto *column = new QVBoxLayout(place);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(1);
    auto *row = new QHBoxLayout;
    row->setSpacing(Theme::kGap);
    row->addWidget(field);
    auto *told = new TextLine(hint, Ink::Muted, place);
    told->setFont(uiFont(-1));
    row->addWidget(told, 1);
    column->addLayout(row);
    auto *error = new TextLine({}, Ink::Bad, place);
    error->setWrapped(true);
    error->hide();
    column->addWidget(error);
    auto *title = new QLabel(label, this);
    field->setAccessibleName(label);
    field->setToolTip(hint);
    const int line = form.rowCount();
    form.addWidget(title, line, 0, Qt::AlignTop);
    title->setMinimumHeight(field->sizeHint().height());
    form.addWidget(place, line, 1);
    m_lines[std::size_t(which)] = { title, field, place, told, error };
}

void ConnectSheet::makeFields()
{
    using enum ConnectField;
    const live::SourceSettings usual;
    QGridLayout &form = *m_form;
    addField(User, form, tr("User"), lineField(tr("none")), tr("basic authentication"));
    addField(Password, form, tr("Password"), lineField({}, true), tr("kept in memory, never saved"));
    addField(Token, form, tr("Token"), lineField(tr("none"), true), {}); // by the kind
    addField(Headers, form, tr("Headers"), lineField(QStringLiteral("X-Scope-OrgID: tenant")),
        tr("several: with ; between them"));
    addField(CaFile, form, tr("CA file"), lineField(tr("the system's")), tr("PEM, where the server has its own"));
    auto *verified = new QCheckBox(tr("Check the server's certificate"));
    verified->setChecked(usual.isVerified);
    addField(Verified, form, tr("Certificate"), verified, {});
    addField(Certificate, form, tr("Certificate file"), lineField(tr("none: without TLS")), tr("PEM, for TLS"));
    addField(Key, form, tr("Key file"), lineField(tr("none: without TLS")), tr("PEM, of the certificate"));
    addField(Interval, form, tr("Asked every"), numberBox(0.2, 3600, usual.intervalSeconds, 1, tr(" s")), {});
    addField(Backfill, form, tr("Asked back"), numberBox(0, 1440, usual.backfillSeconds / 60, 0, tr(" min")),
        tr("what the server has from before the connection"));
    addField(FromEnd, form, tr("Lines"), new QCheckBox(tr("Only those that are written from now on")), {});
    addField(Speed, form, tr("Speed"), numberBox(0, 100'000, usual.replaySpeed, 1, tr(" ×")),
        tr("times as fast as it happened; 0: as fast as it goes"));
    addField(Repeated, form, tr("At its end"), new QCheckBox(tr("Begin again")), {});
}

void ConnectSheet::arrange()
{
    auto *content = new QWidget;
    auto *sides = new QHBoxLayout(content);
    sides->setContentsMargins(kSheetEdge, 18, kSheetEdge, 12);
    auto *inside = new QWidget(content);
    inside->setMaximumWidth(kMostWidth);
    sides->addStretch(0);
    sides->addWidget(inside, 1);
    sides->addStretch(0);
    auto *body = new QVBoxLayout(inside);
    body->setContentsMargins(0, 0, 0, 0);
    body->setSpacing(Theme::kGap);
    auto *title = new TextLine(tr("Connect to a run"), Ink::Text, inside);
    title->setFont(uiFont(5, QFont::DemiBold));
    body->addWidget(title);
    auto *lead = new TextLine(tr("What a run tells while it goes on is laid under the plan, step by step. Nothing "
                                 "leaves this machine, and no run ever waits for this window."),
        Ink::Muted, inside);
    lead->setFont(uiFont(-1));
    lead->setWrapped(true);
    body->addWidget(lead);
    body->addSpacing(6);
    body->addWidget(new SectionTitle(tr("Where from"), {}, inside));
    for (const ConnectKind &kind : connectKinds()) {
        auto *row = new QHBoxLayout;
        row->setSpacing(Theme::kPad);
        auto *choice = m_kinds.emplace_back(new QRadioButton(kind.title, inside));
        choice->setAccessibleDescription(kind.line);
        choice->setMinimumWidth(170);
        auto *line = new TextLine(kind.line, Ink::Muted, inside);
        line->setFont(uiFont(-1));
        row->addWidget(choice);
        row->addWidget(line, 1);
        body->addLayout(row);
    }
    body->addSpacing(6);
    body->addWidget(new SectionTitle(tr("Address"), {}, inside));
    auto *where = new QHBoxLayout;
    where->setSpacing(Theme::kGap);
    address->setAccessibleName(tr("Address"));
    where->addWidget(address, 1);
    where->addWidget(browse);
    body->addLayout(where);
    m_addressError->setWrapped(true);
    m_example->setFont(uiFont(-1));
    m_example->setWrapped(true);
    body->addWidget(m_addressError);
    body->addWidget(m_example);
    body->addSpacing(4);
    m_form->setHorizontalSpacing(Theme::kPad);
    m_form->setVerticalSpacing(6);
    m_form->setColumnStretch(1, 1);
    makeFields();
    body->addLayout(m_form);
    body->addStretch(1);

    auto *foot = new QHBoxLayout;
    foot->setContentsMargins(kSheetEdge, 10, kSheetEdge, 12);
    foot->setSpacing(Theme::kGap);
    foot->addStretch(1);
    foot->addWidget(cancel);
    foot->addWidget(connectButton);
    connectButton->setProperty("isPrimary", true);
    for (QPushButton *button : { browse, cancel, connectButton })
        button->setAutoDefault(true); // Enter presses the one that has the focus
    auto *whole = new QVBoxLayout(this);
    whole->setContentsMargins(Theme::kGap, 0, Theme::kGap, Theme::kGap);
    whole->setSpacing(0);
    whole->addWidget(scrolled(content), 1);
    whole->addLayout(foot);
    for (QWidget *next : std::initializer_list<QWidget *> { browse })
        setTabOrder(address, next);
    QWidget *last = browse;
    for (const Line &line : m_lines) {
        setTabOrder(last, line.field);
        last = line.field;
    }
    setTabOrder(last, cancel);
    setTabOrder(cancel, connectButton);
}

} // namespace trainyard
