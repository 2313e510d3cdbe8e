#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A file of the plan beside its name: a button that shows which it is and asks for another. GUI thread.

#include <QWidget>

class QPushButton;

namespace trainyard {

class FileRow : public QWidget {
    Q_OBJECT
public:
    FileRow(const QString &name, const QString &explanation, const QString &filter, QWidget *parent = nullptr);

    /// empty: none
    void setFile(const QString &path);
    [[nodiscard]] QPushButton *button() const { return m_button; }

Q_SIGNALS:
    void chosen(QString path);

private:
    void ask();

    QString m_name, m_explanation, m_filter, m_path;
    QPushButton *m_button;
};

} // namespace trainyard
