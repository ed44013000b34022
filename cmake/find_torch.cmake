# LibTorch: Debian's package, or another one through CMAKE_PREFIX_PATH (2.x builds too). The target shellgame_torch
# carries it with its headers as system headers.
# With Debian's package installed beside another prefix, TorchConfig.cmake of that prefix would find Debian's libraries:
# point it to its own.
foreach(prefix ${CMAKE_PREFIX_PATH})
  if(EXISTS "${prefix}/lib/libtorch.so" AND EXISTS "${prefix}/share/cmake/Torch/TorchConfig.cmake")
    set(c10_LIBRARY "${prefix}/lib/libc10.so" CACHE FILEPATH "")
    set(TORCH_LIBRARY "${prefix}/lib/libtorch.so" CACHE FILEPATH "")
    break()
  endif()
endforeach()
find_package(Torch REQUIRED)

add_library(shellgame_torch INTERFACE)
target_link_libraries(shellgame_torch INTERFACE ${TORCH_LIBRARIES})
target_include_directories(shellgame_torch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})
