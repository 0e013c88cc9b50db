// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace shoal {

/// Instruction sets that the loops over elements are compiled for. The library as a whole is compiled for the
/// oldest machine of its kind; the loops are chosen while running.
enum class Isa { base, avx2 };

/// A kernel is a type with a static, always-inlined function `run`; CompiledFor<isa, Kernel>::call is that
/// function compiled for the instruction set, as inlined code takes the target of the function around it.
/// (Not target_clones: it works neither on templates nor with every sanitizer.)
template <Isa isa, class Kernel>
struct CompiledFor {
  template <class... Args>
  static auto call(Args... args) {
    return Kernel::run(args...);
  }
};

#if defined(__x86_64__) && defined(__GNUC__)
template <class Kernel>
struct CompiledFor<Isa::avx2, Kernel> {
  template <class... Args>
  [[gnu::target("avx2")]] static auto call(Args... args) {
    return Kernel::run(args...);
  }
};
/// The best instruction set that this machine has. Local.
inline Isa best_isa() {
  return __builtin_cpu_supports("avx2") ? Isa::avx2 : Isa::base;
}
#else
inline Isa best_isa() {
  return Isa::base;
}
#endif

/// The kernel for the best instruction set of this machine. Local.
template <class Kernel, class... Args>
auto run_best(Args... args) {
  static const Isa isa = best_isa();
#if defined(__x86_64__) && defined(__GNUC__)
  if (isa == Isa::avx2) return CompiledFor<Isa::avx2, Kernel>::call(args...);
#endif
  return CompiledFor<Isa::base, Kernel>::call(args...);
}

}  // namespace shoal
