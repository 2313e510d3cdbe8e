// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/catalogue/model_family_internal.h"

#include "core/facts/catalogue/builtin_file_internal.h"

#include <array>
#include <utility>

namespace trainyard {

namespace {

using Families = std::map<std::string, ModelFamily, std::less<>>;

template <class Value, std::size_t N>
void readHabit(
    ObjectReader &reader, const char *key, Value &target, const std::array<std::pair<const char *, Value>, N> &values)
{
    std::string said;
    reader.text(key, said);
    const auto found = std::ranges::find_if(values, [&](const auto &one) { return said == one.first; });
    if (found != values.end())
        target = found->second;
    else if (!said.empty())
        reader.fault(key, std::string(key) + " is \"" + said + "\"", "a habit that the reader knows");
}

ModelFamily readModelFamily(ObjectReader &reader)
{
    ModelFamily family;
    bool isPlain = false;
    readHabit(reader, "mlp", isPlain, std::array { std::pair { "gated", false }, std::pair { "plain", true } });
    family.isGated = !isPlain;
    readHabit(
        reader, "norm", family.hasLayerNorm, std::array { std::pair { "rms", false }, std::pair { "layer", true } });
    readHabit(reader, "bias", family.bias,
        std::array { std::pair { "qkv", BiasHabit::QueryKeyValue }, std::pair { "all", BiasHabit::All } });
    readHabit(reader, "positions", family.positions,
        std::array { std::pair { "table", Positions::Table }, std::pair { "table_and_two", Positions::TableAndTwo } });
    readHabit(reader, "windows", family.windowsAll, std::array { std::pair { "all", true } });
    readHabit(reader, "linear", family.hasGatedDelta, std::array { std::pair { "gated_delta", true } });
    reader.flag("tied", family.isTied);
    reader.flag("dropout", family.hasDropout);
    reader.flag("halved_ffn", family.hasHalvedFfn);
    reader.count("full_every", family.fullEvery, { 2, 1000 });
    reader.text("blocked", family.blocked);
    for (const auto &[key, target] :
        { std::pair { "defaults", &family.defaults }, { "nested_defaults", &family.nestedDefaults } })
        if (const CatalogueJson *defaults = reader.raw(key))
            *target = *defaults;
    if (const CatalogueJson *ignored = reader.raw("ignored"))
        family.ignored = ignored->get<std::vector<std::string>>();
    std::string source;
    reader.text("source", source);
    (void)reader.resolveSource("source", source);
    return family;
}

Families readModelFamilies(const CatalogueJson &content, const Citations &sources, Errors &errors)
{
    Families families;
    for (std::size_t i = 0; i < content.at("families").size(); ++i) {
        ObjectReader reader(
            content["families"][i], "model_families.json: /families/" + std::to_string(i), errors, &sources);
        const CatalogueJson *types = reader.raw("types");
        const ModelFamily family = readModelFamily(reader);
        reader.rejectUnknownKeys();
        for (const CatalogueJson &type : types ? *types : CatalogueJson::array())
            if (!families.emplace(type.get<std::string>(), family).second)
                reader.fault("types", type.get<std::string>() + " is in two families", "each type once");
    }
    return families;
}

} // namespace

const ModelFamily *modelFamily(const std::string &type)
{
    static const Families families = readBuiltinFile("model_families.json", readModelFamilies);
    const auto found = families.find(type);
    return found == families.end() ? nullptr : &found->second;
}

} // namespace trainyard
