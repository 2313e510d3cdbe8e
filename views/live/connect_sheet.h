#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Connect to a run: what kind of source, its address, and only those settings that matter for it, with what is wrong
// said at its field. What is secret is kept in memory alone, and is gone from the fields when the sheet is left. A page
// of the window. GUI thread.

#include "views/live/connect_kinds.h"

#include <QWidget>

#include <array>
#include <functional>

class QAbstractButton;
class QCheckBox;
class QDoubleSpinBox;
class QGridLayout;
class QLineEdit;
class QPushButton;
class QRadioButton;

namespace trainyard {

class TextLine;

class ConnectSheet : public QWidget {
    Q_OBJECT
public:
    /// Connects, or says what is wrong with address or settings.
    using Connect = std::function<Expected<void>(const QString &address, const live::SourceSettings &settings)>;
    explicit ConnectSheet(Connect connect, QWidget *parent = nullptr);

    /// Starts anew, with an address where one is known.
    void start(const QString &address = {});
    /// Asks for a file of this machine; empty where the user thought better of it.
    void setFileChooser(std::function<QString(const QString &title)> choose) { m_chooseFile = std::move(choose); }

    QLineEdit *const address;
    QPushButton *const browse, *const cancel, *const connectButton;
    [[nodiscard]] QRadioButton *kind(live::SourceType type) const;
    [[nodiscard]] QWidget *field(ConnectField field) const;
    [[nodiscard]] bool isShown(ConnectField field) const;
    /// at the address
    [[nodiscard]] QString error() const;
    [[nodiscard]] QString error(ConnectField field) const;
    /// of the fields in sight
    [[nodiscard]] live::SourceSettings settings() const;

signals:
    void connected();
    void cancelled();

protected:
    void hideEvent(QHideEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void paintEvent(QPaintEvent *event) override;

private:
    struct Line { // of the form
        QWidget *label, *field, *place;
        TextLine *hint, *error;
    };
    void makeFields();
    void addField(ConnectField which, QGridLayout &form, const QString &label, QWidget *field, const QString &hint);
    void arrange();
    void wire();
    void chooseKind(const ConnectKind &kind);
    void showKind();
    void showError(const Error &error);
    void clearErrors();
    void connectNow();
    [[nodiscard]] QString text(ConnectField field) const;

    Connect m_connect;
    std::function<QString(const QString &)> m_chooseFile;
    /// beside connectKinds()
    std::vector<QRadioButton *> m_kinds;
    std::array<Line, kConnectFields> m_lines {};
    std::vector<ConnectField> m_shown;
    QGridLayout *m_form;
    TextLine *m_addressError, *m_example;
    bool m_isTelling = false;
};

} // namespace trainyard
