# cmake --install: headers, libraries, the tool with its library of models, and what find_package(shellgame) reads.
# The tool looks for its libraries in ../lib and ../lib/shellgame, so the folders of a prefix have fixed names; a prefix may be moved.
include(CMakePackageConfigHelpers)

set(libraries shellgame_core shellgame_kernels)
if(SHELLGAME_LEARN)
  list(APPEND libraries shellgame_learn)
  # LibTorch may live where the loader does not look.
  set_target_properties(shellgame_models shellgame_learn PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  set_target_properties(shellgame_models PROPERTIES INSTALL_RPATH "$ORIGIN/..")
  install(TARGETS shellgame_models LIBRARY DESTINATION lib/shellgame)
endif()
foreach(library ${libraries})
  string(REPLACE shellgame_ "" name ${library})
  set_target_properties(${library} PROPERTIES EXPORT_NAME ${name})
  set_target_properties(${library} PROPERTIES INSTALL_RPATH "$ORIGIN")
  add_library(shellgame::${name} ALIAS ${library})
endforeach()
set_target_properties(shellgame PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
set_target_properties(shellgame_render PROPERTIES INSTALL_RPATH "$ORIGIN/..")
install(TARGETS shellgame RUNTIME DESTINATION bin)
install(TARGETS shellgame_render LIBRARY DESTINATION lib/shellgame)
install(TARGETS ${libraries} EXPORT shellgameTargets LIBRARY DESTINATION lib INCLUDES DESTINATION include)
install(DIRECTORY shellgame DESTINATION include FILES_MATCHING PATTERN "*.h" PATTERN tool EXCLUDE)
install(FILES ${PROJECT_BINARY_DIR}/generated/shellgame/system/version.h DESTINATION include/shellgame/system)

set(package lib/cmake/shellgame)
install(EXPORT shellgameTargets NAMESPACE shellgame:: DESTINATION ${package})
configure_package_config_file(cmake/shellgameConfig.cmake.in ${PROJECT_BINARY_DIR}/shellgameConfig.cmake
  INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/shellgameConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/shellgameConfig.cmake ${PROJECT_BINARY_DIR}/shellgameConfigVersion.cmake
  cmake/find_core_dependencies.cmake cmake/find_torch.cmake DESTINATION ${package})
