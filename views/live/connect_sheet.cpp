// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/live/connect_sheet.h"

#include "views/parts/panel_parts.h"
#include "views/theme/theme.h"

#include <QCheckBox>
#include <QDoubleSpinBox>
#include <QGridLayout>
#include <QKeyEvent>
#include <QLineEdit>
#include <QPainter>
#include <QPushButton>
#include <QRadioButton>

#include <algorithm>

namespace trainyard {

ConnectSheet::ConnectSheet(Connect connect, QWidget *parent)
    : QWidget(parent)
    , address(new QLineEdit(this))
    , browse(new QPushButton(tr("&Browse…"), this))
    , cancel(new QPushButton(tr("Cancel"), this))
    , connectButton(new QPushButton(tr("Connect"), this))
    , m_connect(std::move(connect))
    , m_form(new QGridLayout) // a form layout of Qt 6.4 writes beyond its rows where some are hidden and wrap
    , m_addressError(new TextLine({}, Ink::Bad, this))
    , m_example(new TextLine({}, Ink::Muted, this))
{
    setAccessibleName(tr("Connect to a run"));
    arrange();
    wire();
    start();
}

void ConnectSheet::wire()
{
    for (std::size_t i = 0; i < m_kinds.size(); ++i)
        QObject::connect(m_kinds[i], &QRadioButton::clicked, this, [this, i] { chooseKind(connectKinds()[i]); });
    QObject::connect(address, &QLineEdit::textChanged, this, [this] {
        clearErrors();
        showKind();
    });
    QObject::connect(address, &QLineEdit::returnPressed, this, &ConnectSheet::connectNow);
    QObject::connect(browse, &QPushButton::clicked, this, [this] {
        const ConnectKind *kind = kindOfAddress(address->text());
        if (!kind || !m_chooseFile)
            return;
        if (const QString path = m_chooseFile(kind->title); !path.isEmpty())
            address->setText(kind->start + path);
    });
    QObject::connect(cancel, &QPushButton::clicked, this, &ConnectSheet::cancelled);
    QObject::connect(connectButton, &QPushButton::clicked, this, &ConnectSheet::connectNow);
}

void ConnectSheet::start(const QString &text)
{
    clearErrors();
    address->setText(text.isEmpty() ? connectKinds().front().examples.front() : text);
    showKind();
    address->setFocus(Qt::TabFocusReason);
    address->selectAll();
}

/// Another kind replaces what nobody has typed; what was typed keeps what it says of a machine or a file.
void ConnectSheet::chooseKind(const ConnectKind &kind)
{
    address->setText(isUntouched(address->text()) ? kind.examples.front() : kind.start);
    address->setFocus(Qt::OtherFocusReason);
    if (isUntouched(address->text()) && address->text() != kind.start)
        address->setSelection(int(kind.start.size()), int(address->text().size() - kind.start.size()));
    else
        address->end(false);
}

void ConnectSheet::showKind()
{
    const ConnectKind *kind = kindOfAddress(address->text());
    for (std::size_t i = 0; i < m_kinds.size(); ++i) {
        const bool isIt = kind == &connectKinds()[i];
        m_kinds[i]->setAutoExclusive(false); // none may be chosen
        m_kinds[i]->setChecked(isIt);
        m_kinds[i]->setAutoExclusive(kind != nullptr);
    }
    m_shown = kind ? fieldsFor(*kind, address->text()) : std::vector<ConnectField>();
    for (std::size_t i = 0; i < m_lines.size(); ++i) {
        const bool isIn = std::ranges::find(m_shown, ConnectField(i)) != m_shown.end();
        m_lines[i].label->setVisible(isIn);
        m_lines[i].place->setVisible(isIn);
    }
    m_lines[std::size_t(ConnectField::Token)].hint->setText(kind && kind->type == live::SourceType::Listener
            ? tr("senders show it; needed beyond this machine; never saved")
            : tr("shown to the server; kept in memory, never saved"));
    browse->setVisible(kind && (kind->type == live::SourceType::Tail || kind->type == live::SourceType::Replay));
    m_example->setText(kind ? tr("For example %1").arg(kind->examples.join(tr(" or ")))
                            : tr("An address begins with http://, https://, listen:, tail:, command:, tcp://, tls://, "
                                 "ws://, wss:// or replay:."));
}

QString ConnectSheet::text(ConnectField which) const
{
    const auto *line = qobject_cast<const QLineEdit *>(m_lines[std::size_t(which)].field);
    return line && isShown(which) ? line->text() : QString();
}

live::SourceSettings ConnectSheet::settings() const
{
    using enum ConnectField;
    const auto number = [this](ConnectField which, double otherwise) {
        const auto *box = qobject_cast<const QDoubleSpinBox *>(m_lines[std::size_t(which)].field);
        return isShown(which) ? box->value() : otherwise;
    };
    const auto isChecked = [this](ConnectField which, bool otherwise) {
        const auto *box = qobject_cast<const QCheckBox *>(m_lines[std::size_t(which)].field);
        return isShown(which) ? box->isChecked() : otherwise;
    };
    live::SourceSettings made;
    made.secrets.user = text(User).toStdString();
    made.secrets.password = text(Password).toStdString();
    made.secrets.token = text(Token).trimmed().toStdString();
    made.caFile = text(CaFile).toStdString();
    made.certificateFile = text(Certificate).toStdString();
    made.keyFile = text(Key).toStdString();
    for (const QString &header : text(Headers).split(u';', Qt::SkipEmptyParts))
        made.headers.push_back(header.trimmed().toStdString());
    made.isVerified = isChecked(Verified, made.isVerified);
    made.intervalSeconds = number(Interval, made.intervalSeconds);
    made.backfillSeconds = 60 * number(Backfill, made.backfillSeconds / 60);
    made.replaySpeed = number(Speed, made.replaySpeed);
    made.isRepeated = isChecked(Repeated, made.isRepeated);
    made.fromEnd = isChecked(FromEnd, made.fromEnd);
    return made;
}

void ConnectSheet::connectNow()
{
    clearErrors();
    const Expected<void> done = m_connect(address->text(), settings());
    if (done)
        emit connected();
    else
        showError(done.error());
}

void ConnectSheet::showError(const Error &error)
{
    QString words = QString::fromStdString(error.what);
    if (!error.right.empty())
        words += tr("; expected %1").arg(QString::fromStdString(error.right));
    if (!words.isEmpty())
        words[0] = words[0].toUpper();
    const std::optional<ConnectField> about = fieldOf(error, m_shown);
    TextLine *line = about ? m_lines[std::size_t(*about)].error : m_addressError;
    line->setText(words);
    line->setAccessibleName(words);
    line->show();
    QWidget *at = about ? m_lines[std::size_t(*about)].field : address;
    at->setAccessibleDescription(words);
    at->setFocus(Qt::OtherFocusReason);
}

void ConnectSheet::clearErrors()
{
    m_addressError->hide();
    address->setAccessibleDescription({});
    for (Line &line : m_lines) {
        line.error->hide();
        line.field->setAccessibleDescription({});
    }
}

QRadioButton *ConnectSheet::kind(live::SourceType type) const
{
    return m_kinds[std::size_t(&kindOf(type) - connectKinds().data())];
}

QWidget *ConnectSheet::field(ConnectField which) const
{
    return m_lines[std::size_t(which)].field;
}

bool ConnectSheet::isShown(ConnectField which) const
{
    return std::ranges::find(m_shown, which) != m_shown.end();
}

QString ConnectSheet::error() const
{
    return m_addressError->isHidden() ? QString() : m_addressError->text();
}

QString ConnectSheet::error(ConnectField which) const
{
    const TextLine *line = m_lines[std::size_t(which)].error;
    return line->isHidden() ? QString() : line->text();
}

void ConnectSheet::hideEvent(QHideEvent *event)
{
    QWidget::hideEvent(event);
    if (event->spontaneous())
        return;
    for (const ConnectField secret : { ConnectField::Password, ConnectField::Token })
        qobject_cast<QLineEdit *>(field(secret))->clear();
}

void ConnectSheet::keyPressEvent(QKeyEvent *event)
{
    if (event->key() == Qt::Key_Escape)
        emit cancelled();
    else
        QWidget::keyPressEvent(event);
}

void ConnectSheet::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    paintCard(painter, rect().adjusted(Theme::kGap, 0, -Theme::kGap, -Theme::kGap), theme().panel, theme().border);
}

} // namespace trainyard
