#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The keys of a config.json while a model is made of them. Each is used, known to be without effect on what is counted,
// or not understood: then it is a doubt of the model. For the .cpp files of this folder.

#include "core/facts/catalogue/model_family_internal.h"
#include "core/facts/workload/doubt.h"

#include <initializer_list>
#include <optional>

namespace trainyard {

using KeyNames = std::initializer_list<const char *>;

inline constexpr Range kCountOfConfig { 0, 1e7 };

class ConfigKeys {
public:
    /// `family`: of the model type; nullptr: unknown.
    ConfigKeys(const CatalogueJson &config, const std::string &where, Errors &errors, const ModelFamily *family)
        : m_config(config)
        , m_reader(config, where, errors)
        , m_family(family)
    {
        if (family && !family->blocked.empty())
            block("model_type", family->blocked);
    }

    [[nodiscard]] const ModelFamily *family() const { return m_family; }
    [[nodiscard]] bool isBlocked() const { return blockingDoubt(doubts) != nullptr; }
    [[nodiscard]] bool has(const char *key) const { return m_reader.has(key); }

    /// Of names of one thing, the value of those that the file has; 0 where it has none. A list of equal values is one
    /// value; values that differ, from layer to layer or between two names, block.
    int count(KeyNames names, Range range = kCountOfConfig);
    /// A fault where the file has none of them, or 1 where the model cannot be read anyway.
    int required(KeyNames names, const char *what, Range range = { 1, 1e7 });
    [[nodiscard]] std::optional<bool> flag(KeyNames names);
    [[nodiscard]] std::string text(KeyNames names);
    /// nullptr where it is absent or null
    [[nodiscard]] const CatalogueJson *raw(const char *key) { return m_reader.raw(key); }
    [[nodiscard]] ObjectReader object(const char *key) { return m_reader.object(key); }
    void fault(const char *key, std::string what, std::string right)
    {
        m_reader.fault(key, std::move(what), std::move(right));
    }

    /// "… are not modelled": nothing may be computed of this model.
    void block(const std::string &key, const std::string &what);
    void doubt(const std::string &key, const std::string &what, double low, double high);
    /// What nothing has asked for, of a model with so many layers.
    void doubtTheRest(int layers);

    Doubts doubts;
    /// Layers of other kinds than attention are ruled out: what describes them is without effect.
    bool hasAttentionAlone = false;

private:
    const CatalogueJson &m_config;
    ObjectReader m_reader;
    const ModelFamily *m_family;
};

/// Whether a key with this name changes nothing of what is counted: tokens, scales, norms, initial values, losses …
[[nodiscard]] bool isWithoutEffect(std::string_view key);

} // namespace trainyard
