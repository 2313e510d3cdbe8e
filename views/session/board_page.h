#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The board of a meeting: a card each variant, and the log of decisions beside them. It hands edits to the session;
// maps are painted when the board is looked at. GUI thread.

#include <QPixmap>
#include <QWidget>

#include <map>
#include <memory>
#include <string>

class QGridLayout;
class QLineEdit;
class QListWidget;
class QPushButton;
class QScrollArea;

namespace trainyard {

class ClusterMap;
class SessionDocument;
class TextLine;
class VariantCard;
class VariantFigures;
struct Plan;

class BoardPage : public QWidget {
    Q_OBJECT
public:
    BoardPage(SessionDocument &session, VariantFigures &figures, QWidget *parent = nullptr);
    ~BoardPage() override;

    QPushButton *const back, *const branch, *const compare, *const save;
    QLineEdit *const decision;
    QListWidget *const decisions;

    /// Of a variant; null where it has none.
    [[nodiscard]] VariantCard *card(const std::string &id) const;
    /// What is typed into a name or a note becomes the session's.
    void commitTyped();

Q_SIGNALS:
    void closed();
    void branchRequested();
    void saveRequested();
    void exportRequested(const std::string &id);
    /// the one variant beside the baseline; empty: all
    void compareRequested(const std::string &id);

protected:
    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;
    void changeEvent(QEvent *event) override;
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void arrange();
    void fill();
    void layCards();
    void refresh();
    void listDecisions();
    void addCard(const std::string &id);
    void fillMenu(const std::string &id);
    void decide();
    [[nodiscard]] QPixmap mapOf(const std::shared_ptr<const Plan> &plan);

    SessionDocument &m_session;
    VariantFigures &m_figures;
    TextLine *m_title, *m_about;
    QWidget *m_cards;
    QGridLayout *m_grid;
    QScrollArea *m_area;
    std::map<std::string, VariantCard *> m_byId;
    /// one is enough to paint all of them
    std::unique_ptr<ClusterMap> m_painter;
    std::map<std::shared_ptr<const Plan>, QPixmap> m_maps;
};

} // namespace trainyard
