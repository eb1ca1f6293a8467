"""The public names of modules within MXNet 1.9.1's packages.

Recorded with

    for module in map(importlib.import_module, ("mxnet.image.image", "mxnet.image.detection", ...)):
        print([n for n in vars(module) if not n.startswith("_") and not isinstance(vars(module)[n], ModuleType)])

without ctypes types, helpers of native bindings and names of Python's own modules. Private names are those that scripts
were seen to import.
"""

NAMES: dict[str, str] = {
    "base": """
        MXNetError NDArrayHandle NotImplementedForSymbol NotSupportedForSparseNDArray data_dir data_dir_default
        integer_types mx_real_t numeric_types py_str string_types
    """,
    "callback": """
        LogValidationMetricsCallback ProgressBar Speedometer do_checkpoint log_train_metric module_checkpoint
        save_checkpoint
    """,
    "executor_manager": """
        DataDesc DataParallelExecutorGroup DataParallelExecutorManager cpu mx_real_t
    """,
    "image.detection": """
        Augmenter CastAug ColorJitterAug ColorNormalizeAug CreateDetAugmenter CreateMultiRandCropAugmenter
        DetAugmenter DetBorrowAug DetHorizontalFlipAug DetRandomCropAug DetRandomPadAug DetRandomSelectAug
        ForceResizeAug HueJitterAug ImageDetIter ImageIter LightingAug RandomGrayAug RandomOrderAug ResizeAug
        copyMakeBorder fixed_crop is_np_array numeric_types
    """,
    "image.image": """
        Augmenter BrightnessJitterAug CastAug CenterCropAug ColorJitterAug ColorNormalizeAug ContrastJitterAug
        CreateAugmenter ForceResizeAug HorizontalFlipAug HueJitterAug ImageIter LightingAug RandomCropAug
        RandomGrayAug RandomOrderAug RandomSizedCropAug ResizeAug SaturationJitterAug SequentialAug center_crop
        color_normalize copyMakeBorder fixed_crop imdecode imread imresize imrotate is_np_array numeric_types
        random_crop random_rotate random_size_crop resize_short scale_down
    """,
    "initializer": """
        Bilinear Constant FusedRNN InitDesc Initializer LSTMBias Load MSRAPrelu Mixed NDArray Normal One
        Orthogonal Uniform Xavier Zero alias create load register string_types
    """,
    "io.io": """
        CSRNDArray CSVIter DataBatch DataDesc DataIter ImageDetRecordIter ImageRecordInt8Iter ImageRecordIter
        ImageRecordIter_v1 ImageRecordUInt8Iter ImageRecordUInt8Iter_v1 LibSVMIter MNISTIter MXDataIter NDArray
        NDArrayIter PrefetchingIter ResizeIter array concat mx_real_t tile _init_data
    """,
    "kvstore.base": """
        KVStoreBase NDArray TestStore array create string_types
    """,
    "kvstore.kvstore": """
        KVStore KVStoreBase NDArray
    """,
    "lr_scheduler": """
        CosineScheduler FactorScheduler LRScheduler MultiFactorScheduler PolyScheduler cos pi
    """,
    "model": """
        BASE_ESTIMATOR BatchEndParam Context DataDesc DataParallelExecutorManager FeedForward
        LogValidationMetricsCallback SKLEARN_INSTALLED Uniform _check_arguments _load_data cpu get_updater
        load_checkpoint load_params mx_real_t save_checkpoint
    """,
    "module.base_module": """
        BaseModule BatchEndParam DataBatch DataDesc DataIter Uniform cpu _as_list _check_input_names
        _check_names_match _parse_data_desc
    """,
    "module.bucketing_module": """
        BaseModule BucketingModule Module NameManager Uniform _check_input_names load_params
    """,
    "module.executor_group": """
        DataDesc DataParallelExecutorGroup _load_data _load_general _load_label _merge_multi_context
        _prepare_group2ctxs
    """,
    "module.module": """
        BaseModule DataDesc DataParallelExecutorGroup InitDesc Module Uniform _create_kvstore
        _initialize_kvstore _update_params _update_params_on_kvstore load_checkpoint zeros
    """,
    "module.python_module": """
        BaseModule PythonLossModule PythonModule Uniform
    """,
    "module.sequential_module": """
        BaseModule SequentialModule Uniform
    """,
    "ndarray.linalg": """
        det extractdiag extracttrian gelqf gemm gemm2 inverse makediag maketrian potrf potri slogdet sumlogdiag
        syevd syrk trmm trsm
    """,
    "ndarray.ndarray": """
        Context Features NDArray add arange array check_boolean_array_dimension concatenate current_context
        divide empty equal eye from_dlpack from_numpy full get_indexing_dispatch_code get_oshape_of_gather_nd_op
        greater greater_equal histogram imdecode indexing_key_expand_implicit_axes integer_types is_np_array
        lesser lesser_equal linspace logical_and logical_or logical_xor maximum minimum modulo moveaxis multiply
        mx_real_t not_equal numeric_types onehot_encode ones power split_v2 subtract to_dlpack_for_read
        to_dlpack_for_write true_divide waitall zeros
    """,
    "ndarray.random": """
        NDArray current_context exponential exponential_like gamma gamma_like generalized_negative_binomial
        generalized_negative_binomial_like multinomial negative_binomial negative_binomial_like normal
        normal_like numeric_types poisson poisson_like randint randn shuffle uniform uniform_like
    """,
    "ndarray.utils": """
        NDArray array empty load load_frombuffer save string_types zeros
    """,
    "optimizer.optimizer": """
        AdaDelta AdaGrad Adam Adamax DCASGD FTML Ftrl LAMB LARS LBSGD NAG NDArray NDabs NDnorm Nadam Optimizer
        RMSProp SGD SGLD Signum Test Updater adam_update array cast ccSGD clip create ftml_update ftrl_update
        get_updater is_np_array lamb_update_phase1 lamb_update_phase2 maximum mp_lamb_update_phase1
        mp_lamb_update_phase2 mp_nag_mom_update mp_sgd_mom_update mp_sgd_update multi_lamb_update multi_lars
        multi_mp_lamb_update multi_mp_sgd_mom_update multi_mp_sgd_update multi_sgd_mom_update multi_sgd_update
        multi_sum_sq multiply nag_mom_update normal preloaded_multi_mp_sgd_mom_update
        preloaded_multi_mp_sgd_update preloaded_multi_sgd_mom_update preloaded_multi_sgd_update register
        rmsprop_update rmspropalex_update sgd_mom_update sgd_update signsgd_update signum_update square zeros
    """,
    "rnn.io": """
        BucketSentenceIter DataBatch DataDesc DataIter encode_sentences
    """,
    "rnn.rnn": """
        BaseRNNCell do_rnn_checkpoint load_checkpoint load_rnn_checkpoint rnn_unroll save_checkpoint
        save_rnn_checkpoint
    """,
    "rnn.rnn_cell": """
        BaseConvRNNCell BaseRNNCell BidirectionalCell ConvGRUCell ConvLSTMCell ConvRNNCell DropoutCell
        FusedRNNCell GRUCell LSTMCell ModifierCell RNNCell RNNParams ResidualCell SequentialRNNCell ZoneoutCell
        numeric_types string_types
    """,
    "symbol.linalg": """
        det extractdiag extracttrian gelqf gemm gemm2 inverse makediag maketrian potrf potri slogdet sumlogdiag
        syevd syrk trmm trsm
    """,
    "symbol.random": """
        Symbol exponential exponential_like gamma gamma_like generalized_negative_binomial
        generalized_negative_binomial_like multinomial negative_binomial negative_binomial_like normal
        normal_like numeric_types poisson poisson_like randint randn shuffle uniform uniform_like
    """,
    "symbol.symbol": """
        AttrScope Context Executor Group MXNetError NDArray NotImplementedForSymbol Symbol Variable arange array
        current_context eye full histogram hypot integer_types is_np_shape linspace load load_json maximum
        minimum numeric_types ones pow power split_v2 string_types var zeros
    """,
    "io.utils": """
        CSRNDArray _init_data array sparse_array
    """,
    "attribute": """
        string_types
    """,
    "autograd": """
        string_types
    """,
    "contrib.autograd": """
        string_types zeros_like
    """,
    "executor": """
        _check_arguments _load_data _load_label _split_input_slice
    """,
    "image": """
        is_np_array numeric_types
    """,
    "kvstore.kvstore_server": """
        create
    """,
    "ndarray.contrib": """
        uniform
    """,
    "rnn": """
        numeric_types string_types
    """,
    "symbol.contrib": """
        AttrScope uniform
    """,
}
