#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// An expert layer of the plan, opened: how long it takes and how much of that nothing computes, which way of
// dispatching was chosen and why, its streams on a time axis, what each exchange moves. Reads what the opener finds.
// GUI thread.

#include "models/layer_opening.h"

#include <QWidget>

class QGridLayout;
class QHBoxLayout;
class QPushButton;
class QTabBar;

namespace trainyard {

class LayerCanvas;
class TextLine;

enum class LayerPass { Forward, Backward, Pair };

class LayerPage : public QWidget {
    Q_OBJECT
public:
    explicit LayerPage(LayerOpener &opener, QWidget *parent = nullptr);

    QPushButton *const back;
    QTabBar *const passes;
    LayerCanvas *const canvas;

    /// Where nothing runs both passes at once: the forward in their place.
    void showPass(LayerPass pass);
    [[nodiscard]] LayerPass pass() const { return m_pass; }
    [[nodiscard]] const OpenedLayerPtr &layer() const { return m_layer; }
    /// All that the page says beside its chart, a line each.
    [[nodiscard]] QString text() const;

signals:
    void closed();

protected:
    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;

private:
    void arrange();
    void take(const OpenedLayerPtr &layer);
    /// in place of a layer
    void say(const QString &message);
    void renew();
    void showExchanges(const LayerChart &chart);
    void showSelection();
    [[nodiscard]] bool has(LayerPass pass) const;

    LayerOpener &m_opener;
    OpenedLayerPtr m_layer;
    LayerPass m_pass = LayerPass::Forward, m_wanted = LayerPass::Forward;
    TextLine *m_title, *m_where, *m_choice, *m_message, *m_selectedTitle;
    QWidget *m_content, *m_figures, *m_exchanges;
    QHBoxLayout *m_figureRow;
    QGridLayout *m_exchangeGrid;
    /// of the selection
    std::vector<TextLine *> m_facts;
};

} // namespace trainyard
