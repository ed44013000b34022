// The exact filter that suits a program: a hash while few orders are reachable (a certain program
// has one), a vector over all orders from then on.
#include <variant>

#include "shellgame/beliefs/filters.h"
#include "shellgame/beliefs/joint_filter.h"
#include "shellgame/beliefs/order_store.h"
#include "shellgame/beliefs/sparse_store.h"

namespace shellgame {
namespace {

class AdaptiveStore {
  struct None {};
  template <class Visit>
  auto each(const Visit& visit) const {
    if (const auto* sparse = std::get_if<SparseStore<double>>(&store_)) return visit(*sparse);
    return visit(std::get<OrderStore<double>>(store_));
  }
  template <class Visit>
  auto each(const Visit& visit) {
    if (auto* sparse = std::get_if<SparseStore<double>>(&store_)) return visit(*sparse);
    return visit(std::get<OrderStore<double>>(store_));
  }

 public:
  using number_type = double;

  explicit AdaptiveStore(const Automaton& automaton) : automaton_(automaton) {
    const std::size_t n = automaton.space().degree();
    if (n <= 12) most_sparse_ = std::max<std::uint64_t>(32, automaton.space().size() / 16);
    const auto& groups = automaton.start().groups;
    if (groups.size() == 1 && n <= 12 && n > 4) {
      store_.emplace<OrderStore<double>>(automaton);
    } else {
      store_.emplace<SparseStore<double>>(automaton);
    }
  }

  void put(const Distribution& distribution) {
    if (distribution.groups.size() == 1 && automaton_.space().degree() <= 12) {  // all orders
      store_.emplace<OrderStore<double>>(automaton_);
    }
    each([&](auto& store) { store.put(distribution); });
  }
  void put_state(StateId state) {
    each([&](auto& store) { store.put_state(state); });
  }
  bool reveal(SymbolId symbol) {
    return each([&](auto& store) { return store.reveal(symbol); });
  }
  void move(SymbolId symbol) {
    each([&](auto& store) { store.move(symbol); });
    const auto* sparse = std::get_if<SparseStore<double>>(&store_);
    if (sparse == nullptr || sparse->entries() <= most_sparse_) return;
    OrderStore<double> dense(automaton_);
    dense.clear();
    sparse->each_order([&](Permutation order, double mass) { dense.put_order(order, mass); });
    store_.emplace<OrderStore<double>>(std::move(dense));
  }
  void release() { store_.emplace<None>(); }
  double total() const {
    return each([](const auto& store) { return store.total(); });
  }
  void divide(double by) {
    each([&](auto& store) { store.divide(by); });
  }
  void scale(double by) {
    each([&](auto& store) { store.scale(by); });
  }
  bool vanished() const {
    return each([](const auto& store) { return store.vanished(); });
  }
  bool broken() const {
    return each([](const auto& store) { return store.broken(); });
  }
  std::optional<StateId> only_state(SymbolId symbol) {
    return each([&](auto& store) { return store.only_state(symbol); });
  }
  bool holds(StateId state) const {
    return each([&](const auto& store) { return store.holds(state); });
  }
  double log_mass() const {
    return each([](const auto& store) { return store.log_mass(); });
  }
  std::vector<double> belief() const {
    return each([](const auto& store) { return store.belief(); });
  }
  std::vector<double> predict(VariableId variable) const {
    return each([&](const auto& store) { return store.predict(variable); });
  }
  double chance(SymbolId symbol) const {
    return each([&](const auto& store) { return store.chance(symbol); });
  }
  std::uint64_t support() const {
    return each([](const auto& store) { return store.support(); });
  }
  std::vector<double> state() const {
    return each([](const auto& store) { return store.state(); });
  }
  double entropy() const {
    return each([](const auto& store) { return store.entropy(); });
  }

 private:
  const Automaton& automaton_;
  std::uint64_t most_sparse_ = UINT64_MAX;
  std::variant<None, SparseStore<double>, OrderStore<double>> store_;
};

}  // namespace

std::unique_ptr<Filter> make_exact_filter(const Automaton& automaton) {
  FilterOptions options;
  const StateSpace& space = automaton.space();
  const bool kernels = std::ranges::any_of(automaton.symbols(), [](const Symbol& symbol) {
    return std::holds_alternative<Kernel>(symbol.transition);
  });
  if (!space.is_orders() || space.degree() <= 5 || kernels)
    return make_dense_filter(automaton, options);
  return std::make_unique<JointFilter<AdaptiveStore>>(automaton, options);
}

}  // namespace shellgame
