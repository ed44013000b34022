# LibTorch: Debian's package, or another one through CMAKE_PREFIX_PATH or Torch_DIR (2.x builds too). The target
# shellgame::torch carries it, with its headers as system headers. An installed shellgame finds it by this file as well.
# With Debian's package installed beside another prefix, TorchConfig.cmake of that prefix would find Debian's libraries:
# point it to its own. PyTorch's torch.utils.cmake_prefix_path names share/cmake of its prefix.
foreach(folder ${Torch_DIR} ${CMAKE_PREFIX_PATH} $ENV{CMAKE_PREFIX_PATH})
  foreach(up . ../.. ../../..)
    cmake_path(ABSOLUTE_PATH folder NORMALIZE OUTPUT_VARIABLE prefix)
    cmake_path(APPEND prefix ${up})
    cmake_path(NORMAL_PATH prefix)
    if(EXISTS "${prefix}/lib/libtorch.so" AND EXISTS "${prefix}/share/cmake/Torch/TorchConfig.cmake" AND NOT TORCH_LIBRARY)
      set(c10_LIBRARY "${prefix}/lib/libc10.so" CACHE FILEPATH "")
      set(TORCH_LIBRARY "${prefix}/lib/libtorch.so" CACHE FILEPATH "")
    endif()
  endforeach()
endforeach()
find_package(Torch REQUIRED)

add_library(shellgame::torch INTERFACE IMPORTED)
# PyPI's LibTorch brings the headers of a fmt of its own (2.13: fmt 12) and no library for them: ours go before them.
foreach(folder ${TORCH_INCLUDE_DIRS})
  if(EXISTS ${folder}/fmt/format.h)
    get_target_property(fmt_folder fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
    list(GET fmt_folder 0 fmt_folder)
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/fmt-headers)
    file(CREATE_LINK ${fmt_folder}/fmt ${PROJECT_BINARY_DIR}/fmt-headers/fmt SYMBOLIC)
    target_include_directories(shellgame::torch SYSTEM INTERFACE ${PROJECT_BINARY_DIR}/fmt-headers)
    break()
  endif()
endforeach()
target_link_libraries(shellgame::torch INTERFACE ${TORCH_LIBRARIES})
target_include_directories(shellgame::torch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})
