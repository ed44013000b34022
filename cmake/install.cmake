# cmake --install: headers, libraries, the tool with its library of models, and what find_package(shellgame) reads.
# The tool looks for its library in ../lib/shellgame, so the folders of a prefix have fixed names.
include(CMakePackageConfigHelpers)

set(libraries shellgame_core shellgame_kernels)
if(SHELLGAME_LEARN)
  list(APPEND libraries shellgame_learn)
  # LibTorch may live where the loader does not look.
  set_target_properties(shellgame_models PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS shellgame_models LIBRARY DESTINATION lib/shellgame)
endif()
foreach(library ${libraries})
  string(REPLACE shellgame_ "" name ${library})
  set_target_properties(${library} PROPERTIES EXPORT_NAME ${name})
  add_library(shellgame::${name} ALIAS ${library})
endforeach()
install(TARGETS shellgame RUNTIME DESTINATION bin)
install(TARGETS shellgame_render LIBRARY DESTINATION lib/shellgame)
install(TARGETS ${libraries} EXPORT shellgameTargets ARCHIVE DESTINATION lib INCLUDES DESTINATION include)
install(DIRECTORY shellgame DESTINATION include FILES_MATCHING PATTERN "*.h" PATTERN tool EXCLUDE)

set(package lib/cmake/shellgame)
install(EXPORT shellgameTargets NAMESPACE shellgame:: DESTINATION ${package})
configure_package_config_file(cmake/shellgameConfig.cmake.in ${PROJECT_BINARY_DIR}/shellgameConfig.cmake
  INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/shellgameConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/shellgameConfig.cmake ${PROJECT_BINARY_DIR}/shellgameConfigVersion.cmake
  cmake/find_core_dependencies.cmake cmake/find_torch.cmake DESTINATION ${package})
